/**
 * The `header` plugin: sets and clears AA, RA and RD, in queries for the plugins after it and in
 * replies.
 * @module
 */

import { checkArgs, type Option, options, unknownOption } from '../../../corefile/arguments.ts'
import { configError, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { FLAG } from '../../../dns/wire/query.ts'
import { deriveRequest } from '../../chain/derived-request.ts'
import type { FastReplyOptions } from '../../contract/fast-path-part.ts'
import { andThen } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'

/** The flags to set or clear; an omitted flag stays as it is. */
type Flags = { aa?: boolean; ra?: boolean; rd?: boolean }
type Rules = { readonly query: Flags; readonly response: Flags }

const FLAG_NAMES = ['aa', 'ra', 'rd'] as const

/** Configures `header { query|response set|clear FLAG… }`. */
export const headerPlugin: PluginEntry = {
  name: 'header',
  setup: (directives) => {
    const [first, ...ignored] = directives
    const rules = parseRules(first)
    const flags = replyFlags(rules)
    return {
      plugin: {
        name: 'header',
        fastPath: { configure: (how) => prepare(how, flags) },
        serve: (request, next) =>
          andThen(next(changedQuery(request, rules.query.rd)), (outcome) =>
            changedOutcome(outcome, rules),
          ),
      },
      notices: ignored.map((other) =>
        problemAt(other, 'only the first "header" of a block takes effect; remove this one'),
      ),
    }
  },
}

function parseRules(directive: Directive): Rules {
  checkArgs(directive, 0)
  const rules: Rules = { query: {}, response: {} }
  const lines = options(directive)
  if (lines.length === 0) {
    throw configError(directive, '"header" needs a line such as "response set ra" in braces')
  }
  for (const line of lines) {
    const selector = line.name.toLowerCase()
    if (selector !== 'query' && selector !== 'response') {
      throw unknownOption('header', line, ['query', 'response'])
    }
    readFlags(line, rules[selector])
  }
  return rules
}

/** Reads a line into `flags`. A later line overrides an earlier one. */
function readFlags(line: Option, flags: Flags): void {
  const [action, ...names] = line.args
  const verb = action?.text.toLowerCase()
  if (action === undefined || (verb !== 'set' && verb !== 'clear')) {
    throw configError(action ?? line, `"${line.name}" needs "set" or "clear" and flags`)
  }
  if (names.length === 0) throw configError(action, `"${action.text}" needs a flag: aa, ra or rd`)
  for (const name of names) flags[flagOf(name)] = verb === 'set'
}

function flagOf(word: Word): (typeof FLAG_NAMES)[number] {
  const name = FLAG_NAMES.find((one) => one === word.text.toLowerCase())
  if (name !== undefined) return name
  throw configError(word, `"${word.text}" is not a flag that can be changed: aa, ra or rd`)
}

/** Returns the flags for replies. RD in a reply is as the changed query had it. */
function replyFlags({ query, response }: Rules): Flags {
  return query.rd === undefined ? response : { rd: query.rd, ...response }
}

function prepare(how: FastReplyOptions, { aa, ra, rd }: Flags): void {
  changeFlag(how, FLAG.AA, aa)
  changeFlag(how, FLAG.RA, ra)
  changeFlag(how, FLAG.RD, rd)
}

function changeFlag(how: FastReplyOptions, bit: number, value: boolean | undefined): void {
  if (value === true) how.flagsSet |= bit
  if (value === false) how.flagsCleared |= bit
}

/** Changes RD alone: AA and RA mean nothing in a query. */
function changedQuery(request: Request, rd: boolean | undefined): Request {
  const { flags } = request.query
  if (rd === undefined || rd === ((flags & FLAG.RD) !== 0)) return request
  const others = flags & (FLAG.AD | FLAG.CD)
  return deriveRequest(request, { flags: rd ? others | FLAG.RD : others })
}

/** Changes a reply; a failure, which becomes a message only later, gets just the query's flags. */
function changedOutcome(outcome: Outcome, rules: Rules): Outcome {
  if (outcome.kind === 'failure') {
    return rules.query.rd === undefined ? outcome : { ...outcome, recursionDesired: rules.query.rd }
  }
  if (outcome.kind !== 'reply') return outcome
  const { aa, ra, rd } = replyFlags(rules)
  return {
    ...outcome,
    authoritative: aa ?? outcome.authoritative,
    recursionAvailable: ra ?? outcome.recursionAvailable,
    recursionDesired: rd ?? outcome.recursionDesired,
  }
}
