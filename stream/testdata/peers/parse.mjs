// Reads streams from stdin, one a line as a JSON array of chunks in base64,
// and prints what eventsource-parser makes of each as a line of JSON:
// {"said": […], "retry": […]}, where said has the events {id?, event?, data}
// and comments {comment} in their order.
import {createInterface} from 'node:readline'
import {createParser} from 'eventsource-parser'

for await (const line of createInterface({input: process.stdin, crlfDelay: Infinity})) {
  const said = []
  const retry = []
  const parser = createParser({
    onEvent: (event) => said.push(event),
    onComment: (comment) => said.push({comment}),
    onRetry: (ms) => retry.push(ms),
  })
  // As the package's README has it: the decoder is the caller's.
  const decoder = new TextDecoder()
  for (const chunk of JSON.parse(line)) {
    parser.feed(decoder.decode(Buffer.from(chunk, 'base64'), {stream: true}))
  }
  parser.feed(decoder.decode())
  process.stdout.write(JSON.stringify({said, retry}) + '\n')
}
