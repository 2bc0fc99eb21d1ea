package server

// StatusOf is the table of HTTP statuses, for the test that it is exhaustive.
var StatusOf = statusOf
