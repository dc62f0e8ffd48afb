/**
 * Clients of the gateway in a pod's network while something happens to its pods.
 * @module
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientCounts } from './gateway-clients.ts'
import type { Asked } from './gateway-request.ts'
import type { KubernetesNode } from './node.ts'

const PROGRAM = join(import.meta.dirname, 'gateway-clients.ts')
/** Fewest clients of a test: `KUBEDOH_GATEWAY_CLIENTS=700` takes 42 s for each. */
const CLIENTS_MIN = Number(process.env.KUBEDOH_GATEWAY_CLIENTS ?? 150)
const PAUSE_MS = 60
/** For clients that came at the end of the action. */
const SETTLE_MS = 2000

/**
 * Has clients ask during an action, prints how their requests ended, and returns that.
 * @throws {AssertionError} when a response is wrong, or too few clients came
 */
export async function clientsDuring(
  node: KubernetesNode,
  asked: Asked,
  [what, action]: readonly [what: string, action: () => Promise<unknown>],
): Promise<ClientCounts> {
  const [command = '', ...args] = await node.inPod('glibc')
  const child = spawn(command, [...args, process.execPath, PROGRAM, JSON.stringify(asked)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const begin = performance.now()
  const closed = once(child, 'close')
  const output = text(child.stdout)
  try {
    await action()
    const restMs = CLIENTS_MIN * PAUSE_MS - (performance.now() - begin)
    await sleep(Math.max(restMs, SETTLE_MS))
    child.stdin.end()
    await closed
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  const counts: ClientCounts = JSON.parse(await output)
  const { clients, failed, worst, wrong, reasons } = counts
  const seconds = ((performance.now() - begin) / 1000).toFixed(0)
  console.log(
    `${what}: ${clients} clients in ${seconds} s, ${failed} requests failed, at most ${worst} of ` +
      `one client, ${wrong} wrong`,
  )
  assert.equal(wrong, 0, JSON.stringify(reasons))
  // A busy machine may not reach the rate, but clients that stand still show nothing.
  assert.ok(clients > CLIENTS_MIN / 4, `${clients} clients`)
  return counts
}
