/**
 * Two networks with a slow way from one to the other, as a client's with a limited bandwidth has.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { findMissing } from '../clients/programs.ts'

/** A network with a server's address, and that of a client far away. */
export type SlowNetwork = {
  /** The server's address, as the client reaches it. */
  readonly address: string
  /** The command that runs another one beside the server. */
  readonly near: readonly string[]
  /** The command that runs another one beside the client. */
  readonly far: readonly string[]
  readonly remove: () => void
}

/**
 * Creates the networks: from the server to the client 1 Mbit/s with a queue of 64 MB, back without
 * a limit. Returns `undefined`, and prints why, where the machine cannot.
 */
export function createSlowNetwork(): SlowNetwork | undefined {
  const [near, far] = [`kubedoh-near-${process.pid}`, `kubedoh-far-${process.pid}`]
  const remove = (): void => {
    for (const name of [near, far]) execFileSync('ip', ['netns', 'delete', name])
  }
  try {
    const missing = findMissing('ip')
    if (missing !== undefined) throw new Error(missing)
    execFileSync('sh', [
      '-ec',
      `ip netns add ${near}
ip netns add ${far}
ip -n ${near} link set lo up
ip -n ${near} link add far type veth peer name near netns ${far}
ip -n ${near} address add 198.18.0.1/30 dev far
ip -n ${near} link set far up
ip -n ${far} address add 198.18.0.2/30 dev near
ip -n ${far} link set near up
ip netns exec ${near} tc qdisc add dev far root tbf rate 1mbit burst 16kb limit 64mb`,
    ])
  } catch (error) {
    process.stdout.write(`skipped: the slow network: ${error}\n`)
    return undefined
  }
  const commandOf = (name: string): readonly string[] => ['ip', 'netns', 'exec', name]
  return { address: '198.18.0.1', near: commandOf(near), far: commandOf(far), remove }
}
