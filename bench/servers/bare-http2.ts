/**
 * A server as small as one on `node:http2` can be: `bare-http2.ts CERT KEY` prints its port.
 * @module
 */
import { readFileSync } from 'node:fs'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { BODY, FIELDS } from './fixed-response.ts'

const HEAD = Object.entries({ ':status': '200', date: new Date().toUTCString(), ...FIELDS }).flat()

const [, , cert = '', key = ''] = process.argv
const tls = { cert: readFileSync(cert), key: readFileSync(key) }
const server = createSecureServer({ ...tls, strictSingleValueFields: false })
server.on('stream', (stream: ServerHttp2Stream, headers) => {
  stream.on('error', ignore)
  // The body of a query arrives in one piece.
  if (headers[':method'] === 'POST') stream.on('data', () => respond(stream))
  else respond(stream)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.stdout.write(`ready: ${port}\n`)
})

function respond(stream: ServerHttp2Stream): void {
  stream.respond(HEAD)
  stream.end(BODY)
}

function ignore(): void {}
