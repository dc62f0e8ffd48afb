/**
 * Rules that set EDNS options of queries, for upstreams (github.com/coredns/coredns,
 * plugin/rewrite/edns0.go).
 * @module
 */

import { configError, type Position } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { EMPTY } from '../../../dns/bytes/bytes.ts'
import { type EdnsOption, OPTION } from '../../../dns/wire/edns.ts'
import { optionsOf } from '../../chain/derived-request.ts'
import {
  type Metadata,
  type OptionData,
  parseData,
  parseUnsigned,
  subnetData,
} from './edns0-data.ts'
import { NO_RESPONSE_RULES, type QuestionDraft, type ResponseRule, type Rule } from './rule.ts'

const ACTIONS = ['set', 'replace', 'append', 'unset'] as const
type Action = (typeof ACTIONS)[number]
type Kind = 'local' | 'nsid' | 'subnet'

/** Number of arguments after the kind and the action, except for `revert`. */
const WORD_COUNTS: Readonly<Record<Kind, number>> = { local: 2, nsid: 0, subnet: 2 }
/** Number of arguments after `unset`. */
const UNSET_WORD_COUNTS: Readonly<Record<Kind, number>> = { local: 1, nsid: 0, subnet: 0 }

type Subject = {
  readonly code: number
  /** Returns the new data; `undefined` if it is unknown for a question. */
  readonly data: (draft: QuestionDraft) => Uint8Array | undefined
  /** Whether `append` adds to an existing option. */
  readonly mayRepeat: boolean
}

/**
 * Parses `edns0 local set|replace|append CODE DATA|{VARIABLE}`, `edns0 nsid set|replace|append` and
 * `edns0 subnet set|replace|append BITS4 BITS6`, each with an optional `revert`; and `edns0 local
 * unset CODE`, `edns0 nsid unset` and `edns0 subnet unset`.
 * @throws {ConfigError}
 */
export function parseEdns0Rule(words: readonly Word[], at: Position, metadata: Metadata): Rule {
  const [kindWord, actionWord, ...rest] = words
  const kind = kindWord?.text.toLowerCase()
  if (kindWord === undefined || (kind !== 'local' && kind !== 'nsid' && kind !== 'subnet')) {
    throw configError(kindWord ?? at, 'an EDNS rule needs "local", "nsid" or "subnet"')
  }
  const action = ACTIONS.find((one) => one === actionWord?.text.toLowerCase())
  if (action === undefined) {
    throw configError(
      actionWord ?? kindWord,
      `"${kindWord.text}" needs one of ${ACTIONS.join(', ')}`,
    )
  }
  const reverts = action !== 'unset' && rest.at(-1)?.text === 'revert'
  const args = reverts ? rest.slice(0, -1) : rest
  const wanted = (action === 'unset' ? UNSET_WORD_COUNTS : WORD_COUNTS)[kind]
  if (args.length !== wanted) {
    throw configError(
      args[wanted] ?? kindWord,
      `"${kindWord.text} ${action}" takes ${wanted} argument(s), got ${args.length}`,
    )
  }
  const subject = parseSubject(kind, args, metadata)
  return {
    // Without an OPT record in the query, the client's response has none either.
    mayMatch: ({ hasEdns }) => kind === 'local' && hasEdns,
    rewrite: (draft) => rewriteOptions(draft, subject, { action, reverts }),
    ...(kind === 'local' && { optionCodes: [subject.code] }),
  }
}

function parseSubject(kind: Kind, args: readonly Word[], metadata: Metadata): Subject {
  const [first, second] = args
  if (kind === 'nsid') return { code: OPTION.NSID, data: () => EMPTY, mayRepeat: true }
  if (kind === 'subnet') {
    const data = first && second ? subnetData(first, second) : undefined
    return { code: OPTION.CLIENT_SUBNET, data: data ?? (() => undefined), mayRepeat: false }
  }
  const code = first === undefined ? 0 : parseUnsigned(first, 0xffff)
  const data: OptionData =
    second === undefined ? { isVariable: false, read: () => EMPTY } : parseData(second, metadata)
  return { code, data: data.read, mayRepeat: !data.isVariable }
}

function rewriteOptions(
  draft: QuestionDraft,
  { code, data, mayRepeat }: Subject,
  { action, reverts }: { readonly action: Action; readonly reverts: boolean },
): readonly ResponseRule[] | undefined {
  const before = draft.options ?? optionsOf(draft.request)
  if (action === 'unset') {
    draft.options = before.filter((option) => option.code !== code)
    return NO_RESPONSE_RULES
  }
  const value = data(draft)
  if (value === undefined) return undefined
  draft.options = before
  const index = before.findIndex((option) => option.code === code)
  const old = before[index]
  const option: EdnsOption = { code, data: value }
  if (old !== undefined && (action === 'set' || action === 'replace')) {
    draft.options = before.with(index, option)
    draft.ownOptions.add(code)
    return reverts ? [{ options: (now) => restored(now, code, old) }] : NO_RESPONSE_RULES
  }
  if (action === 'replace' || (old !== undefined && !mayRepeat)) return undefined
  draft.options = [...before, option]
  draft.ownOptions.add(code)
  return reverts ? [{ options: (now) => restored(now, code, undefined) }] : NO_RESPONSE_RULES
}

/** Replaces the first option with the code by the original one, or removes it if there was none. */
function restored(
  options: readonly EdnsOption[],
  code: number,
  old: EdnsOption | undefined,
): readonly EdnsOption[] {
  const index = options.findIndex((option) => option.code === code)
  if (index < 0) return options
  return old === undefined ? options.toSpliced(index, 1) : options.with(index, old)
}
