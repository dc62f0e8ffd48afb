/**
 * The `loadbalance` plugin: shuffles address and MX records and moves them after all other records.
 * Addresses from a snapshot are rotated by a random number instead.
 * @module
 */

import {
  checkArgs,
  type OptionReaders,
  onlyWord,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { type Network, parseNetwork } from '../../../dns/names/network.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Reply } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { FastPathPart } from '../../contract/fast-path-part.ts'
import type { Host } from '../../contract/host.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { parseWeights, preferred, rotated, shuffled, type Weights, weighted } from './order.ts'

/** A policy, which orders the reply to a query of a type. */
type Balancer = {
  readonly order: (reply: Reply, type: number) => Reply
  readonly configure?: FastPathPart['configure']
  readonly start?: () => void
  readonly stop?: () => void
  readonly notices?: readonly Problem[]
}

/**
 * Configures `loadbalance [round_robin] { prefer NETWORK… }` or `loadbalance weighted FILE { reload
 * DURATION }` (default 30s; 0 disables reloads).
 */
export const loadbalancePlugin: PluginEntry = {
  name: 'loadbalance',
  setup: (directives, context) => {
    const { policy, preferred: networks } = parseLoadbalance(directives)
    const balancer =
      policy.kind === 'weighted' ? weightedBalancer(policy, context) : roundRobin(context.host)
    const isSimple = policy.kind === 'round_robin' && networks.length === 0
    const { order, configure, start, stop, notices = [] } = balancer
    const plugin: Plugin = {
      name: 'loadbalance',
      fastPath: {
        ...(configure && { configure }),
        ...(!isSimple && { accepts: (query, _, reply) => hasOneAddress(query, reply) }),
      },
      ...(start && { start }),
      ...(stop && { stop }),
      serve: (request, next) =>
        andThen(next(request), (outcome) => {
          if (outcome.kind !== 'reply' || outcome.rcode !== RCODE.NOERROR) return outcome
          return withPreferred(order(outcome, request.type), networks)
        }),
    }
    return { plugin, notices }
  },
}

function roundRobin({ random16 }: Host): Balancer {
  return {
    configure: (how) => {
      how.rotation = random16
    },
    order: (reply) => {
      const { answer, authority, additional, origin } = reply
      if (origin === 'snapshot') return { ...reply, answer: rotated(answer, random16()) }
      return {
        ...reply,
        answer: shuffled(answer, random16),
        authority: shuffled(authority, random16),
        additional: shuffled(additional, random16),
      }
    },
  }
}

function weightedBalancer(
  { file, reloadMs }: Extract<Policy, { kind: 'weighted' }>,
  { host, pathOf }: SetupContext,
): Balancer {
  const path = pathOf(file.text)
  let text = host.readText(path)
  let weights: Weights = new Map()
  let cancel = (): void => {}
  const use = (read: string): string | undefined => {
    const parsed = parseWeights(read)
    if (!('line' in parsed)) weights = parsed
    return 'line' in parsed ? `${path}:${parsed.line}: ${parsed.message}` : undefined
  }
  const missing = `cannot read the weights file "${path}"`
  const problem = text === undefined ? (reloadMs === 0 ? missing : undefined) : use(text)
  if (problem !== undefined) throw configError(file, problem)
  const reload = (): void => {
    const read = host.readText(path)
    const wrong = read === undefined ? missing : read === text ? undefined : use(read)
    if (wrong !== undefined) host.log({ level: 'error', message: wrong, plugin: 'loadbalance' })
    text = read ?? text
    cancel = host.after(reloadMs, reload)
  }
  const retrying = `${missing} yet; retrying every ${reloadMs / 1000} s`
  return {
    order: (reply, type) => {
      if (type !== TYPE.A && type !== TYPE.AAAA && type !== TYPE.SRV) return reply
      const answer = weighted(reply.answer, weights, host.random16)
      const additional = weighted(reply.additional, weights, host.random16)
      return { ...reply, answer, additional }
    },
    start: () => {
      if (reloadMs > 0) cancel = host.after(reloadMs, reload)
    },
    stop: () => {
      cancel()
    },
    notices: text === undefined ? [problemAt(file, retrying)] : [],
  }
}

function withPreferred(reply: Reply, networks: readonly Network[]): Reply {
  if (networks.length === 0) return reply
  const answer = preferred(reply.answer, networks)
  return { ...reply, answer, additional: preferred(reply.additional, networks) }
}

/** Whether a reply has a single address, which needs no ordering. */
function hasOneAddress({ type, hasEdns }: Query, reply: Uint8Array): boolean {
  const isOrdered = type === TYPE.A || type === TYPE.AAAA
  const additionalCount = readUint16(reply, 10) - (hasEdns ? 1 : 0)
  return additionalCount <= 1 && (!isOrdered || readUint16(reply, 6) <= 1)
}

/** How addresses are ordered. */
export type Policy =
  | { readonly kind: 'round_robin' }
  | {
      readonly kind: 'weighted'
      readonly file: Word
      /** Interval between reloads in milliseconds; 0 disables them. */
      readonly reloadMs: number
    }

/** The merged options of a server block's directives; the last policy wins. */
type LoadbalanceOptions = {
  readonly policy: Policy
  /** Networks whose addresses come first. */
  readonly preferred: readonly Network[]
}

const RELOAD_MS_DEFAULT = 30_000

/** Reads directives. @throws {ConfigError} with the place of what is wrong */
export function parseLoadbalance(
  directives: readonly [Directive, ...Directive[]],
): LoadbalanceOptions {
  let read: LoadbalanceOptions = { policy: { kind: 'round_robin' }, preferred: [] }
  for (const directive of directives) read = readDirective(directive, read.preferred)
  return read
}

function readDirective(
  directive: Directive,
  before: LoadbalanceOptions['preferred'],
): LoadbalanceOptions {
  const [policy, file] = directive.args
  if (policy?.text === 'weighted') {
    checkArgs(directive, 2)
    if (file === undefined) throw configError(policy, '"weighted" needs a weights file')
    const reload = readOptions({ ...directive, name: 'loadbalance weighted' }, WEIGHTED_READERS, {
      reloadMs: RELOAD_MS_DEFAULT,
    })
    return { policy: { kind: 'weighted', file, ...reload }, preferred: [] }
  }
  if (policy !== undefined && policy.text !== 'round_robin') {
    throw configError(policy, `"${policy.text}" is neither "round_robin" nor "weighted"`)
  }
  checkArgs(directive, 1)
  const roundRobin: Policy = { kind: 'round_robin' }
  return readOptions(directive, ROUND_ROBIN_READERS, { policy: roundRobin, preferred: before })
}

const WEIGHTED_READERS: OptionReaders<{ reloadMs: number }> = {
  reload: (option) => ({ reloadMs: parseDuration(onlyWord(option)) }),
}
const ROUND_ROBIN_READERS: OptionReaders<LoadbalanceOptions> = {
  prefer: ({ args }, { preferred }) => ({ preferred: [...preferred, ...args.map(parseBlock)] }),
}

function parseBlock(word: Word): Network {
  const network = parseNetwork(word.text)
  if (network !== undefined) return network
  throw configError(word, `"${word.text}" is not a block of addresses such as 10.0.0.0/8`)
}
