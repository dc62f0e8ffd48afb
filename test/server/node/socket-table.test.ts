import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { describe, test } from 'vitest'
import { readSocketTable, socketRows, socketsOf } from '../../../src/server/node/socket-table.ts'

const UDP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  201: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        0 17185 2 0000000000000000 42
  202: 00000000000000000000000001000000:14E9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 17190 2 0000000000000000 0
`
const TCP = `   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 31337 1 0000000000000000 100 0 0 10 0
`

describe('the table of sockets', () => {
  test('has addresses, ports, inodes and drops', () => {
    assert.deepEqual(
      [...socketRows(UDP)],
      [
        { address: '127.0.0.53', port: 53, inode: '17185', drops: 42 },
        { address: '::1', port: 5353, inode: '17190', drops: 0 },
      ],
    )
    assert.equal([...socketRows(TCP)][0]?.inode, '31337')
  })

  for (const text of ['', '\n\n', 'nothing', '1: 0100007F:1F40', '1: 01:0035 x x x x x x x 9']) {
    test(`skips ${JSON.stringify(text)}`, () => {
      assert.deepEqual([...socketRows(text)], [])
    })
  }

  test('lists the sockets that are open', async (t) => {
    const socket = createSocket('udp6')
    const server = createServer()
    t.onTestFinished(() => {
      socket.close()
      server.close()
    })
    await new Promise<void>((resolve) => socket.bind(0, '::1', resolve))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    const tcpPort = typeof bound === 'object' ? bound?.port : undefined
    const places = (['udp', 'tcp'] as const).flatMap((protocol) =>
      readSocketTable(protocol).map(({ address, port }) => `${protocol} ${address} ${port}`),
    )
    assert.ok(places.includes(`udp ::1 ${socket.address().port}`))
    const ports: number[] = []
    for await (const { port } of socketsOf('udp')) ports.push(port)
    assert.ok(ports.includes(socket.address().port))
    assert.ok(places.includes(`tcp 127.0.0.1 ${tcpPort}`))
  })
})
