/**
 * How long `kubedoh serve` takes from its start to its first response, and the memory it has then:
 * the bundle of the package and the sources of a checkout, beside CoreDNS.
 * @module
 */
import { join } from 'node:path'
import { prepareCoreDns } from '../test/real-cluster/binaries.ts'
import { msUntilAnswered } from './dns-probe.ts'
import { ROOT } from './places.ts'
import { median, type Row, ratioRow } from './row.ts'
import { residentMb, startCorefile } from './server-processes.ts'

const ROUNDS = 9
const NAME = 'a.example.org'
const ADDRESS = '192.0.2.1'
const COREFILE = `.:53 {
  bind 127.0.0.1
  errors
  hosts {
    ${ADDRESS} ${NAME}
  }
}
`

/** Times of starts in milliseconds, and memory in MB. */
type Starts = { readonly ms: number[]; readonly mb: number[] }

/** Measures, one start of each in turn. */
export async function benchStart(): Promise<Row[]> {
  const coredns = prepareCoreDns()
  const bundle = noStarts()
  const sources = noStarts()
  const peer = noStarts()
  for (let round = 0; round < ROUNDS; round++) {
    await measure(bundle)
    await measure(sources, { KUBEDOH_ENTRY: join(ROOT, 'src/cli/run.ts') })
    await measure(peer, {}, coredns)
  }
  return [
    ...rows(bundle, { name: 'the sources', ...sources }, { atLeast: 2 }),
    ...rows(bundle, { name: 'CoreDNS', ...peer }),
  ]
}

function noStarts(): Starts {
  return { ms: [], mb: [] }
}

async function measure(
  { ms, mb }: Starts,
  variables: Readonly<Record<string, string>> = {},
  coredns?: string,
): Promise<void> {
  const which = coredns === undefined ? {} : { coredns }
  const server = await startCorefile({ name: 'a start', ...which }, COREFILE, { variables })
  ms.push(await msUntilAnswered(server.port, { name: NAME, address: ADDRESS }))
  mb.push(residentMb(server.pid))
  await server.stop()
}

function rows(
  { ms, mb }: Starts,
  peer: Starts & { readonly name: string },
  goal?: { readonly atLeast: number },
): Row[] {
  const time = { bench: 'start', metric: 'start of the bundle to its first response', unit: 'ms' }
  const memory = { bench: 'start', metric: 'memory of the bundle then', unit: 'MB' }
  return [
    ratioRow(time, median(ms), { name: peer.name, value: median(peer.ms) }, goal),
    ratioRow(memory, median(mb), { name: peer.name, value: median(peer.mb) }),
  ]
}
