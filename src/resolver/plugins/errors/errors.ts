/**
 * The `errors` plugin: logs failed queries with their reasons, and consolidates similar errors
 * (CoreDNS, plugin/errors).
 * @module
 */

import {
  argTexts,
  checkArgs,
  type Option,
  type OptionReaders,
  onlyDirective,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, ServerBlock, Word } from '../../../corefile/server-block.ts'
import { formatName } from '../../../dns/names/name.ts'
import { formatRcode } from '../../../dns/names/rcode.ts'
import type { Level, Log } from '../../../dns/telemetry/log.ts'
import type { Pattern } from '../../../go/pattern/pattern.ts'
import type { Host } from '../../contract/host.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Failure } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import { typeText } from '../../plugin-kit/mnemonics.ts'
import { parsePattern } from '../rewrite/name-match.ts'

/** A kind of errors to consolidate. */
type Kind = {
  readonly pattern: Pattern
  readonly periodMs: number
  /** The period as written in the Corefile. */
  readonly periodText: string
  readonly level: Level
  readonly showsFirst: boolean
}

const LEVELS: readonly Level[] = ['warning', 'error', 'info', 'debug']
const SHOW_FIRST = 'show_first'

/**
 * Whether responses give the reason for a failure in extended errors (RFC 8914): if the block logs
 * `errors`. CoreDNS has no extended errors, and without `errors` kubedoh has none.
 */
export function showsErrors({ directives }: ServerBlock): boolean {
  return directives.some(({ name }) => name === 'errors')
}

/**
 * Configures `errors [stdout] { stacktrace; consolidate DURATION EXPRESSION [LEVEL] [show_first] …
 * }`. The server always logs stack traces. The first matching expression counts. Logs the level
 * `debug` only if the server block has `debug`.
 */
export const errorsPlugin: PluginEntry = {
  name: 'errors',
  explainsRefusals: true,
  setup: (directives, { host, block }) => {
    const isDebugged = block.directives.some(({ name }) => name === 'debug')
    const report: Log = (event) => {
      if (isDebugged || event.level !== 'debug') host.log(event)
    }
    const { after } = host
    const groups = parseKinds(onlyDirective(directives)).map(
      (kind) => new ErrorGroup(kind, { after, report }),
    )
    const log = (request: Request, { rcode, reason = '' }: Failure): void => {
      const group = groups.find((one) => one.kind.pattern.test(reason))
      if (group?.takes() === true) return
      report({
        level: group?.kind.level ?? 'error',
        message: reason,
        plugin: 'errors',
        rcode: formatRcode(rcode),
        name: formatName(request.lowerName),
        type: typeText(request.type),
      })
    }
    return {
      plugin: {
        name: 'errors',
        fastPath: {},
        stop: () => {
          for (const group of groups) group.stop()
        },
        serve: (request, next) =>
          andThen(next(request), (outcome) => {
            if (outcome.kind === 'failure' && outcome.reason !== undefined) log(request, outcome)
            return outcome
          }),
      },
    }
  },
}

type Services = { readonly after: Host['after']; readonly report: Log }

/** Errors of one kind, counted over a period that starts with the first one. */
class ErrorGroup {
  readonly kind: Kind
  private readonly services: Services
  private count = 0
  private isStopped = false
  private cancel = (): void => {}

  constructor(kind: Kind, services: Services) {
    this.kind = kind
    this.services = services
  }

  /** Counts an error; returns false if the caller must log it. */
  takes(): boolean {
    if (this.isStopped) return false
    if (++this.count > 1) return true
    this.cancel = this.services.after(this.kind.periodMs, () => this.report())
    return !this.kind.showsFirst
  }

  /** Logs the count, and counts no more. */
  stop(): void {
    this.isStopped = true
    this.cancel()
    this.report()
  }

  private report(): void {
    const { count, kind } = this
    this.count = 0
    if (count === 0 || (count === 1 && kind.showsFirst)) return
    const { level, pattern, periodText } = kind
    const message = `${count} errors like '${pattern.source}' occurred in last ${periodText}`
    this.services.report({ level, message, plugin: 'errors' })
  }
}

function parseKinds(directive: Directive): readonly Kind[] {
  const [output] = checkArgs(directive, 1)
  if (output !== undefined && output.text !== 'stdout') {
    throw configError(output, `"errors" logs to "stdout" only, got "${output.text}"`)
  }
  return readOptions(directive, READERS, { kinds: [] }).kinds
}

const READERS: OptionReaders<{ kinds: readonly Kind[] }> = {
  // The server always logs stack traces.
  stacktrace: () => undefined,
  consolidate: (option, { kinds }) => ({ kinds: [...kinds, parseKind(option)] }),
}

function parseKind(option: Option): Kind {
  argTexts(option, 2, 4)
  const [period, expression, ...rest] = option.args
  if (period === undefined || expression === undefined) throw new TypeError('There are two words')
  const pattern = parsePattern(expression)
  return { pattern, periodMs: parseDuration(period), periodText: period.text, ...parseManner(rest) }
}

function parseManner(words: readonly Word[]): Pick<Kind, 'level' | 'showsFirst'> {
  let level: Level | undefined
  let showsFirst = false
  for (const word of words) {
    const found = LEVELS.find((one) => one === word.text)
    if (found === undefined && word.text !== SHOW_FIRST) {
      const known = `one of ${LEVELS.join(', ')}`
      throw configError(word, `"${word.text}" is neither ${known} nor "${SHOW_FIRST}"`)
    }
    if (found !== undefined && showsFirst) {
      throw configError(word, `"${word.text}" must come before "${SHOW_FIRST}"`)
    }
    if (found !== undefined && level !== undefined) {
      throw configError(word, `the level is "${level}" already`)
    }
    level ??= found
    showsFirst ||= found === undefined
  }
  return { level: level ?? 'error', showsFirst }
}
