/**
 * A server as small as one on `node:http` can be, for what stands behind a proxy: `bare-http1.ts`
 * prints its port.
 * @module
 */
import { createServer } from 'node:http'
import { BODY, FIELDS } from './fixed-response.ts'

const server = createServer((request, response) => {
  // Without a reader, the body of a POST would keep its connection from the next request.
  request.resume().on('end', () => response.writeHead(200, FIELDS).end(BODY))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.stdout.write(`ready: ${port}\n`)
})
