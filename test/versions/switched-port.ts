/**
 * A port whose connections go to one of several servers, as a load balancer's do.
 * @module
 */
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'vitest'
import { portOf } from '../server/clients.ts'

/** The port. */
export class SwitchedPort {
  /** Port of the server that gets new connections; those that are open stay where they are. */
  target = 0
  /** URL of the port. */
  readonly url: string

  private constructor(url: string) {
    this.url = url
  }

  /** Opens a port on loopback until the test ends. */
  static async open(t: TestContext): Promise<SwitchedPort> {
    const sockets = new Set<Socket>()
    const server = createServer((client) => {
      const there = connect(switched.target, '127.0.0.1')
      for (const [from, to] of [
        [client, there],
        [there, client],
      ] as const) {
        sockets.add(from)
        from.pipe(to)
        from.on('error', () => to.destroy())
        from.once('close', () => {
          sockets.delete(from)
          to.destroySoon()
        })
      }
    })
    t.onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const switched = new SwitchedPort(`http://127.0.0.1:${portOf(server.address())}`)
    return switched
  }
}
