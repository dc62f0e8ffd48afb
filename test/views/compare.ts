/**
 * Asks pairs of gateways for the same things and counts where they differ.
 * @module
 */
import { randomFrom } from '../../bench/cluster-objects.ts'
import { drawRequest } from './requests.ts'
import { drawWorld, type ViewRequest } from './worlds.ts'

/** What came of a comparison. */
export type Tally = {
  requests: number
  /** Requests by their HTTP status and, for messages, their response code. */
  readonly kinds: Map<string, number>
  /** What differed, in words; the first few of it. */
  readonly differences: string[]
  different: number
}

const DIFFERENCES_KEPT = 5

/** Compares so many pairs of gateways, each by so many requests, all drawn from a seed. */
export async function compareWorlds(
  seed: number,
  { worlds, requests }: { readonly worlds: number; readonly requests: number },
): Promise<Tally> {
  const tally: Tally = { requests: 0, kinds: new Map(), differences: [], different: 0 }
  const random = randomFrom(seed)
  for (let i = 0; i < worlds; i++) {
    const world = await drawWorld(random)
    for (let k = 0; k < requests; k++) {
      const request = drawRequest(random, world.token)
      const [hidden, absent] = await world.ask(request)
      const kind = kindOf(request, absent)
      tally.requests++
      tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1)
      if (hidden === absent) continue
      tally.different++
      if (tally.differences.length < DIFFERENCES_KEPT) {
        const { path, method } = request
        tally.differences.push(
          [`world ${i}: ${world.describe}`, `${method} ${path}`, hidden, absent].join('\n'),
        )
      }
    }
  }
  return tally
}

/** The figures of a comparison, in a line. */
export function formatTally({ requests, kinds, different }: Tally): string {
  const counts = [...kinds].sort().map(([kind, count]) => `${kind} ${count}`)
  return `${requests} requests, ${different} differ; ${counts.join(', ')}`
}

function kindOf({ path }: ViewRequest, answer: string): string {
  const [status, , body] = JSON.parse(answer)
  const route = /^\/(t\/|dns-query|resolve|v1\/explain)/.exec(path)?.[1] ?? 'status'
  const isMessage = status === 200 && (route === 't/' || route === 'dns-query')
  return `${route} ${status}${isMessage ? ` rcode ${body.charCodeAt(3) & 15}` : ''}`
}
