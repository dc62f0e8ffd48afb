/**
 * CPU time per query of DNS servers under load, server by server in turn.
 * @module
 */
import { type Load, type LoadResult, saturate } from './dns-load.ts'
import { median, type Row, ratioRow } from './row.ts'
import type { DnsProcess } from './server-processes.ts'

/** A server and the load on it. */
export type LoadedServer = Load & { readonly server: DnsProcess }

type Costs = Readonly<Record<string, LoadResult>>

/**
 * Loads servers in turn, some rounds; the first one is not counted. Returns the rows of
 * medians.
 */
export async function costRows(
  measured: Readonly<Record<string, LoadedServer>>,
  rounds: number,
): Promise<Row[]> {
  const results = new Map(Object.keys(measured).map((key) => [key, [] as LoadResult[]]))
  for (let round = -1; round < rounds; round++) {
    for (const [key, { server, ...load }] of Object.entries(measured)) {
      const result = await saturate(server, load)
      if (round >= 0) results.get(key)?.push(result)
    }
  }
  const costs = Object.fromEntries(
    Array.from(results, ([key, all]) => [
      key,
      {
        cpuUs: median(all.map((one) => one.cpuUs)),
        perSecond: median(all.map((one) => one.perSecond)),
      },
    ]),
  )
  return rowsOf(costs)
}

const CORE_GOAL = 5

/** Each key of ours with the peers that it is held against, and the least ratio. */
const LOADS = [
  ['UDP A, kubernetes alone', 'oursA', 'corednsA', 'echoA', 'unboundA'],
  ['UDP mix, kubernetes alone', 'oursMix', 'corednsMix', 'echoMix', 'unboundMix'],
  ["UDP A, kubeadm's Corefile", 'oursKubeadmA', 'kubeadmA', 'echoA', 'unboundA'],
  ["UDP mix, kubeadm's Corefile", 'oursKubeadmMix', 'kubeadmMix', 'echoMix', 'unboundMix'],
] as const

function rowsOf(costs: Costs): Row[] {
  const table = [
    ...LOADS.flatMap(([metric, ours, coredns, echo, unbound]) => [
      { metric, ours, peer: coredns, name: 'CoreDNS', atLeast: CORE_GOAL },
      { metric, ours, peer: unbound, name: 'unbound', atLeast: 1 },
      { metric, ours, peer: echo, name: 'the C echo', atLeast: 0.6 },
    ]),
    ...(['A', 'Mix'] as const).map((kind) => ({
      metric: `UDP ${kind === 'A' ? 'A' : 'mix'}, node:dgram`,
      ours: `dgram${kind}`,
      peer: `coredns${kind}`,
      name: 'CoreDNS',
      atLeast: 2.5,
    })),
    {
      ...{ metric: 'TCP A, pipelined', ours: 'oursTcp', peer: 'corednsTcp', name: 'CoreDNS' },
      atLeast: CORE_GOAL,
    },
  ]
  return table.flatMap(({ metric, ours, peer, name, atLeast }) => {
    const [one, other] = [costs[ours], costs[peer]]
    if (one === undefined || other === undefined) return []
    const base = { bench: 'server', metric: `CPU per query, ${metric}`, unit: 'µs' }
    const rates = { ours: one.perSecond / 1000, peer: other.perSecond / 1000 }
    process.stderr.write(
      `${metric}: ${rates.ours.toFixed(0)} k queries/s, ${name} ${rates.peer.toFixed(0)} k\n`,
    )
    return [ratioRow(base, one.cpuUs, { name, value: other.cpuUs }, { atLeast })]
  })
}
