/**
 * The `dnssec` plugin: signs responses to clients that set DO (RFC 4035 §3.1), except transfers.
 * @module
 */

import {
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseCount,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { equalNames, formatName, isSubdomain } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../dns/wire/message.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { closestZone, closestZoneIndex } from '../../plugin-kit/zones.ts'
import { type DnssecHost, type DnssecKey, KeyFileError, readKey } from './key-file.ts'
import { signReply } from './sign-reply.ts'
import { dnssecMetrics, Signer } from './signer.ts'

/** TTL of the keys and their signatures. */
const KEYS_TTL_SECONDS = 3600

/** Configures `dnssec [ZONE…] { key file KEY…  cache_capacity N }`. */
export const dnssecPlugin: PluginEntry<DnssecHost> = {
  name: 'dnssec',
  gateways: {
    at: 'worker',
    is: 'refused',
    because: 'it does not sign; sign the zone file beforehand, or run "kubedoh gateway"',
  },
  mayAnswer: true,
  setup: (directives, context) => {
    const { host, server, peers } = context
    const { zones, keys, capacity, notices } = parseDnssec(directives, context)
    const metrics = dnssecMetrics(host.metrics, server)
    const signer = new Signer({ keys, capacity, now: host.now, metrics })
    const keysOf = (zone: Uint8Array, isSigned: boolean): Outcome => {
      const answer = keys.map(({ record }) => ({ ...record, owner: zone }))
      const signatures = isSigned ? signKeys(answer, zone, signer) : []
      return { ...EMPTY_REPLY, authoritative: true, answer: [...answer, ...signatures] }
    }
    return {
      notices,
      plugin: {
        name: 'dnssec',
        fastPath: {
          needsSlowPath: (query) =>
            (query.wantsDnssec || query.type === TYPE.DNSKEY) &&
            closestZoneIndex(zones, query) >= 0,
        },
        serve: (request, next) => {
          const { query, lowerName, name, type } = request
          const zone = closestZone(zones, lowerName)
          if (zone === undefined || isHidden(peers(), request, zone)) return next(request)
          if (type === TYPE.DNSKEY && equalNames(zone, lowerName)) {
            return keysOf(zone, query.wantsDnssec)
          }
          if (!query.wantsDnssec) return next(request)
          return andThen(next(request), (outcome) =>
            outcome.kind === 'reply'
              ? signReply(outcome, { name, type, zone }, { zones, signer })
              : outcome,
          )
        },
      },
    }
  },
}

/** Whether a zone is hidden from a client, which must not get its keys. */
function isHidden(
  peers: readonly Plugin[],
  { client: { visibility }, query }: Request,
  zone: Uint8Array,
): boolean {
  if (visibility === undefined) return false
  return (
    !visibility.seesName(query) ||
    peers.some(({ hides }) => hides?.(visibility, query, zone) === true)
  )
}

function signKeys(
  [first, ...others]: readonly ResourceRecord[],
  zone: Uint8Array,
  signer: Signer,
): ResourceRecord[] {
  if (first === undefined) return []
  const signatures = signer.sign([first, ...others], zone)
  return signatures.map((one) => ({ ...one, ttlSeconds: KEYS_TTL_SECONDS }))
}

type DnssecOptions = {
  readonly zones: readonly Uint8Array[]
  readonly keys: readonly DnssecKey[]
  /** RRsets in the signature cache. */
  readonly capacity: number
  readonly notices: readonly Problem[]
}

const CAPACITY_DEFAULT = 10_000
const CAPACITY_MAX = 10_000_000
const KEYS_MAX = 64

type Context = Pick<SetupContext<DnssecHost>, 'host' | 'zones' | 'pathOf'>

/**
 * Reads `dnssec [ZONE…] { key file KEY…  cache_capacity N }`.
 * @throws {ConfigError} also for an unusable key, or one for none of the zones
 */
function parseDnssec(
  directives: readonly [Directive, ...Directive[]],
  context: Context,
): DnssecOptions {
  const directive = onlyDirective(directives)
  const zones = zonesOf(directive.args, context.zones)
  const readers: OptionReaders<Pick<DnssecOptions, 'keys' | 'capacity'>> = {
    key: (option, { keys }) => ({
      keys: [...keys, ...keyWords(option).map((word) => loadKey(word, zones, context))],
    }),
    cache_capacity: (option) => ({ capacity: parseCount(onlyWord(option), 0, CAPACITY_MAX) }),
  }
  const defaults = { keys: [], capacity: CAPACITY_DEFAULT }
  const { keys, capacity } = readOptions(directive, readers, defaults)
  if (keys.length > KEYS_MAX) {
    throw configError(directive, `"dnssec" takes ${KEYS_MAX} keys at most`)
  }
  const notice = problemAt(directive, '"dnssec" without "key" signs nothing')
  return { zones, keys, capacity, notices: keys.length === 0 ? [notice] : [] }
}

function keyWords(option: Option): readonly Word[] {
  const [source, ...words] = option.args
  if (source?.text === 'aws_secretsmanager') {
    const instead = 'put them into files, and name these with "key file"'
    throw configError(source, `keys in AWS Secrets Manager are not supported; ${instead}`)
  }
  if (source?.text !== 'file' || words.length === 0) {
    throw configError(source ?? option, '"key" takes "file" and the names of key files')
  }
  return words
}

function loadKey(word: Word, zones: readonly Uint8Array[], { host, pathOf }: Context): DnssecKey {
  try {
    const key = readKey(pathOf(word.text.replace(/\.(key|private)$/, '')), host)
    const { owner } = key.record
    if (zones.some((zone) => isSubdomain(zone, owner))) return key
    const names = zones.map((zone) => `"${formatName(zone)}"`).join(', ')
    const message = `key ${key.tag} of "${formatName(owner)}" cannot sign ${names}`
    throw configError(word, `${message}; create one with "dnssec-keygen -a ECDSAP256SHA256 ZONE"`)
  } catch (error) {
    if (error instanceof KeyFileError) throw configError(word, error.message)
    throw error
  }
}
