/**
 * Compares our replies with those of the real k8s_gateway.
 * @module
 */
import type { QuestionText } from '../real-cluster/asking.ts'
import { CARRIED, type Drawn, SEVERAL, SHARED, ZONES } from './host-objects.ts'

/** Sends a query to a server, and returns the lines of its reply. */
export type Ask = (question: QuestionText) => Promise<readonly string[]>

/** What the comparison found. */
export type Tally = {
  readonly same: number
  /** Queries that got records. */
  readonly answered: number
  /** How often each listed deviation was met. */
  readonly deviations: ReadonlyMap<string, number>
  readonly wrong: readonly object[]
}

/** The kinds that the server takes hostnames from, in the order in which they win. */
export const RESOURCES = 'HTTPRoute TLSRoute GRPCRoute DNSEndpoint Node Service Ingress'
/** Where answers differ on purpose, by the start of the query name. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  [SHARED]: 'several namespaces claim the name: the oldest object has it, the project merges them',
  [CARRIED]: "a parent's namespace is its own, and not that of the parents after it, too",
  [SEVERAL]: 'each name of a DNSEndpoint has its own targets; the project gives it those of all',
}
const ABOVE = 'a name above hostnames exists (RFC 8020); the project denies it'
const DEEP =
  'a wildcard of a route or an endpoint stands for several labels; for one in the project'
const BY_TYPE = 'a name exists for all types or none; the project decides for A and AAAA, and TXT'

/** Sends each query to both servers, ours first. */
export async function compare(
  questions: Iterable<QuestionText>,
  { ours, theirs, hosts }: { readonly ours: Ask; readonly theirs: Ask } & Pick<Drawn, 'hosts'>,
): Promise<Tally> {
  const published = hosts.flatMap((host) => [host, ...ZONES.map((zone) => `${host}.${zone}`)])
  const deviations = new Map<string, number>()
  const wrong: object[] = []
  let same = 0
  let answered = 0
  for (const question of questions) {
    const [name = ''] = question.toLowerCase().split(' ')
    const own = sorted(await ours(question))
    const reply = await theirs(question)
    if (own.some((line) => line.startsWith('answer '))) answered++
    if (own.join() === sorted(reply).join()) {
      same++
      continue
    }
    const listed = Object.entries(DEVIATIONS).find(([label]) => name.startsWith(label))?.[1]
    const why =
      byName(own, name.slice(0, -1), published) ??
      ((await isByType(own, { name, reply, theirs })) ? BY_TYPE : listed)
    if (why === undefined) wrong.push({ question, own, reply })
    else deviations.set(why, (deviations.get(why) ?? 0) + 1)
  }
  return { same, answered, deviations, wrong }
}

/** Returns why a name that the project may deny exists here. */
function byName(
  own: readonly string[],
  name: string,
  published: readonly string[],
): string | undefined {
  if (!own.some((line) => line.startsWith('noerror'))) return undefined
  const over = published.filter((host) => name.endsWith(host.replace(/^\*/, '')))
  const isDeep = over.every((host) => host.startsWith('*') && depthOf(name) > depthOf(host))
  if (over.length > 0 && isDeep) return DEEP
  return published.some((host) => host.endsWith(`.${name}`)) ? ABOVE : undefined
}

function depthOf(name: string): number {
  return name.split('.').length
}

type Compared = { readonly name: string; readonly reply: readonly string[]; readonly theirs: Ask }

async function isByType(
  own: readonly string[],
  { name, reply, theirs }: Compared,
): Promise<boolean> {
  const expected = sorted(expectedOf(reply, name, await exists(theirs, name)))
  return own.join() === expected.join()
}

/** Formats what was found for people. */
export function describeTally({ same, answered, deviations, wrong }: Tally): string {
  const counts = [...deviations].map(([why, count]) => `  ${count}: ${why}\n`)
  const all = same + wrong.length + [...deviations.values()].reduce((sum, one) => sum + one, 0)
  return `k8s_gateway: ${same} of ${all} the same, ${answered} with records\n${counts.join('')}`
}

/** Returns whether the project has a name, for any of the types that it decides on. */
async function exists(theirs: Ask, name: string): Promise<boolean> {
  for (const type of ['A', 'AAAA', 'TXT']) {
    const question: QuestionText = `${name} ${type}`
    if ((await theirs(question))[0]?.startsWith('NOERROR')) return true
  }
  return false
}

/** Returns the project's reply as it is if the name exists for all types or for none. */
function expectedOf(reply: readonly string[], name: string, isThere: boolean): readonly string[] {
  const [head = '', ...lines] = reply
  if (lines.some((line) => line.toLowerCase().startsWith(`answer ${name} `))) return reply
  const denied = lines.map((line) => line.replace(/^answer (?=\S+ 60 IN SOA )/, 'authority '))
  return [head.replace(/^\S+/, isThere ? 'NOERROR' : 'NXDOMAIN'), ...denied]
}

/** Neither letter case nor order matters. */
function sorted(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.toLowerCase()).sort()
}
