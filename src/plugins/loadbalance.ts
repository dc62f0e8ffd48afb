/**
 * The `loadbalance` plugin: puts addresses and mail exchangers in random order, behind all else.
 * Addresses from a snapshot keep their order and begin at a random one.
 * @module
 */
import { checkArgs, checkNoBlock, onlyDirective } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'
import type { ResourceRecord } from '../dns/message.ts'
import { RCODE } from '../dns/rcode.ts'
import { TYPE } from '../dns/rr-type.ts'
import { andThen, type Setup } from './plugin.ts'

/** Configures `loadbalance [round_robin]`. */
export const setupLoadbalance: Setup = (directives, { host }) => {
  const directive = onlyDirective(directives)
  const [policy] = checkArgs(directive, 1)
  if (policy !== undefined && policy.text !== 'round_robin') {
    const message = `"${policy.text}" is not supported by "loadbalance", only round_robin is`
    throw configError(policy, message)
  }
  checkNoBlock(directive)
  const shuffle = (records: readonly ResourceRecord[]): readonly ResourceRecord[] =>
    shuffled(records, host.random16)
  return {
    plugins: [
      {
        name: 'loadbalance',
        quick: {
          prepare: (how) => {
            how.rotation = host.random16()
          },
        },
        serve: (request, next) =>
          andThen(next(request), (outcome) => {
            if (outcome.kind !== 'reply' || outcome.rcode !== RCODE.NOERROR) return outcome
            const { answer, authority, additional } = outcome
            if (outcome.origin === 'snapshot') {
              return { ...outcome, answer: rotated(answer, host.random16()) }
            }
            return {
              ...outcome,
              answer: shuffle(answer),
              authority: shuffle(authority),
              additional: shuffle(additional),
            }
          }),
      },
    ],
  }
}

/**
 * Begins with another address than the first: enough for sets of addresses that are the same for
 * everybody, and possible without a copy.
 */
function rotated(records: readonly ResourceRecord[], by: number): readonly ResourceRecord[] {
  const isAddress = ({ type }: ResourceRecord): boolean => type === TYPE.A || type === TYPE.AAAA
  const addresses = records.filter(isAddress)
  const start = by % Math.max(1, addresses.length)
  const others = records.filter((record) => !isAddress(record))
  return [...others, ...addresses.slice(start), ...addresses.slice(0, start)]
}

/** Aliases first, so that resolvers that read top down find their way. */
function shuffled(
  records: readonly ResourceRecord[],
  random16: () => number,
): readonly ResourceRecord[] {
  if (records.length < 2) return records
  const rank = ({ type }: ResourceRecord): number => {
    if (type === TYPE.CNAME) return 0
    if (type === TYPE.A || type === TYPE.AAAA) return 2
    return type === TYPE.MX ? 3 : 1
  }
  const groups: ResourceRecord[][] = [[], [], [], []]
  for (const record of records) groups[rank(record)]?.push(record)
  const [aliases = [], rest = [], addresses = [], exchangers = []] = groups
  return [...aliases, ...rest, ...permute(addresses, random16), ...permute(exchangers, random16)]
}

/** Fisher–Yates, in place. */
function permute(records: ResourceRecord[], random16: () => number): ResourceRecord[] {
  for (let i = records.length - 1; i > 0; i--) {
    const j = random16() % (i + 1)
    const a = records[i]
    const b = records[j]
    if (a !== undefined && b !== undefined) {
      records[i] = b
      records[j] = a
    }
  }
  return records
}
