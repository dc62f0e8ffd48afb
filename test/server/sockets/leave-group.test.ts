import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'vitest'
import { leaveGroup } from '../../../src/server/sockets/leave-group.ts'
import { openMmsg } from '../../../src/server/sockets/mmsg.ts'
import { UdpServer } from '../../../src/server/sockets/udp-server.ts'
import { describeUnless } from '../../describe-unless.ts'
import { askUdp, echo, LOOPBACKS, overUdp, queryWith, within } from '../clients.ts'

const missing = openMmsg() === undefined && 'this Node has no node:ffi'

describeUnless(missing, 'leaveGroup', () => {
  for (const address of LOOPBACKS) {
    test(`leaves all queries at ${address} to the other socket of the port`, async (t) => {
      const counts = [0, 0]
      const servers = counts.map((_, i) => {
        const answer = (query: Uint8Array): Uint8Array => {
          counts[i] = (counts[i] ?? 0) + 1
          return echo(query)
        }
        const server = new UdpServer(address, overUdp(answer), { sharesPort: true })
        t.onTestFinished(() => server.close())
        return server
      })
      let port = 0
      for (const server of servers) port = await server.listen(address, port)
      // The kernel chooses by the client's port: 64 clients reach both sockets.
      const ask = async (): Promise<void> => {
        for (let id = 0; id < 64; id++) await askUdp(address, port, queryWith(id))
      }
      await ask()
      assert.ok(counts.every((count) => count > 0))
      const [before = 0] = counts
      servers[0]?.handOver()
      await ask()
      assert.deepEqual(counts, [before, 128 - before])
    })

    test(`answers queries that ${address} has queued before`, async (t) => {
      const server = new UdpServer(address, overUdp(echo), { sharesPort: true })
      t.onTestFinished(() => server.close())
      const port = await server.listen(address, 0)
      const client = createSocket(address.includes(':') ? 'udp6' : 'udp4')
      t.onTestFinished(() => void client.close())
      client.connect(port, address)
      await once(client, 'connect')
      const answered = once(client, 'message')
      // A connected socket sends at once: the kernel has the query before the server reads it.
      client.send(queryWith(7))
      server.handOver()
      const [message] = await within(answered, 'a UDP answer')
      assert.deepEqual(new Uint8Array(message), echo(queryWith(7)))
    })
  }

  test('fails for an address that is none, and a descriptor that is none', () => {
    assert.equal(leaveGroup(-1, 'localhost', 53), false)
    assert.equal(leaveGroup(-1, '127.0.0.1', 53), false)
  })
})
