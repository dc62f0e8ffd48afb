import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  formatRcode,
  formatRecord,
  nameOf,
  parseResponse,
  parseType,
  writeQuery,
} from 'kubedoh/dns'

const [name = 'example.org', type = 'A', server = '127.0.0.1', port = '53'] = process.argv.slice(2)
const id = crypto.getRandomValues(new Uint16Array(1))[0] ?? 0
const query = writeQuery({ id, name: nameOf(name), type: parseType(type) ?? 1, udpBytes: 1232 })

const socket = createSocket('udp4')
socket.connect(Number(port), server)
await once(socket, 'connect')
socket.send(query)
const [message] = await once(socket, 'message', { signal: AbortSignal.timeout(5000) })
socket.close()

const response = parseResponse(message)
if (response?.id !== id) throw new Error('this is not the response')
console.log(`; ${formatRcode(response.rcode)}`)
for (const record of response.answer) console.log(formatRecord(record))
