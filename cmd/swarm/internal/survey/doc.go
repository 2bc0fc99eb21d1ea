// Package survey looks at a folder and says what is in it: lines by language,
// modules, licences, marks left by people and secrets left by mistake, how
// its prose reads, and what its tables hold.
//
//	r, err := survey.Lines(ctx, "/home/me/project")
//	if err != nil { … }
//	fmt.Print(r.Text()) // or json.Marshal(r)
//
// Each function takes a folder and gives a report of its own type, with JSON
// in a stable order and a Text of a few plain lines. The same folder gives
// the same report: nothing here asks a model, a clock or the network.
//
// # What is looked at
//
// A report is true of the folder, whatever the folder is, so each has a
// [Scope] that says what it rests on, and says so whenever a limit bit:
//
//   - Symbolic links are not followed, neither out of the folder nor within
//     it: what lies within is met at its own place. (The folder itself may be
//     named by a link.) Files are opened beneath an os.Root, so a folder that
//     becomes a link while we walk does not lead out either.
//   - Pipes, sockets and devices are not opened.
//   - Folders that hold other people's work or a tool's state are not
//     entered: those named in [SkippedFolders] and every one whose name
//     starts with a dot. The folder asked for is always entered. Files whose
//     names start with a dot are ordinary files.
//   - Files over [MaxFileBytes] are counted, not read ([MaxTableBytes] for
//     tables); nor is anything once [MaxReadBytes] have been read.
//   - The walk ends after [MaxEntries] files and folders, and does not go
//     deeper than [MaxDepth] folders.
//   - A file with a NUL in its first 8000 bytes is binary: counted, and not
//     looked into. UTF-16 is binary by this rule.
//   - What can't be opened or read is listed, and the walk goes on.
//
// Lists in reports hold at most [MaxListed] entries, while the counts beside
// them count everything.
//
// # Names and foreign text
//
// Paths are relative to the folder, with slashes. A path or a text that is
// not valid UTF-8, that holds an unprintable character (control bytes, marks
// that turn the writing direction), begins with a quote or has a blank at
// either end stands as a Go string literal, in JSON too; [Quote] is the rule.
// So no report carries bytes that could steer a terminal.
package survey
