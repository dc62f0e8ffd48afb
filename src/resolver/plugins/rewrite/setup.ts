/**
 * The `rewrite` plugin: changes questions and reverts the changes in replies. The reply has the
 * original question.
 * @module
 */

import type { Directive } from '../../../corefile/server-block.ts'
import { nameText, parseNameText } from '../../../dns/names/name-text.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import type { EdnsOption } from '../../../dns/wire/edns.ts'
import { deriveRequest, optionsOf } from '../../chain/derived-request.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import { metadataOf } from '../metadata/metadata.ts'
import type { Metadata } from './edns0-data.ts'
import { type OrderedRule, parseRule } from './parse-rule.ts'
import { revert } from './revert.ts'
import type { QuestionDraft, ResponseRule } from './rule.ts'

/** The client's network, or a variable that depends on the client, in rules for EDNS options. */
const CLIENT_WORD = /^(?:subnet$|\{(?!q|protocol|server))/i

/** Configures `rewrite [continue|stop] FIELD …`, one rule each, in the order of the Corefile. */
export const rewritePlugin: PluginEntry = {
  name: 'rewrite',
  rewrites: true,
  variesByClient: ({ args }) => args.some(({ text }) => CLIENT_WORD.test(text)),
  setup: (directives, { peers }) => {
    const rewriter = new Rewriter(directives, metadataOf(peers))
    return {
      plugin: {
        name: 'rewrite',
        fastPath: {
          needsSlowPath: (query) => {
            const { rules } = rewriter
            for (let i = 0; i < rules.length; i++)
              if (rules[i]?.mayMatch(query) === true) return true
            return false
          },
        },
        serve: (request, next) => rewriter.serve(request, next),
      },
    }
  },
}

class Rewriter {
  readonly rules: readonly OrderedRule[]
  /** Codes of options that responses return to the client. */
  private readonly echoedCodes: ReadonlySet<number>

  constructor(directives: readonly Directive[], metadata: Metadata) {
    this.rules = directives.map((directive) => parseRule(directive, metadata))
    this.echoedCodes = new Set(this.rules.flatMap(({ optionCodes }) => optionCodes ?? []))
  }

  serve(request: Request, next: Next): MaybePromise<Outcome> {
    const draft: QuestionDraft = {
      request,
      name: nameText(request.name),
      type: request.type,
      class: request.class,
      options: undefined,
      ownOptions: new Set(),
    }
    const responseRules: ResponseRule[] = []
    let text = draft.name
    let { name } = request
    for (const rule of this.rules) {
      const rules = rule.rewrite(draft)
      if (rules === undefined) continue
      if (draft.name !== text) {
        const parsed = parseNameText(draft.name)
        if (parsed === undefined) {
          return failure(RCODE.SERVFAIL, `"${text}" was rewritten to an invalid name`)
        }
        text = draft.name
        name = parsed
      }
      responseRules.push(...rules)
      if (rule.isLast) break
    }
    const inner = rewritten(draft, name)
    const echoed = this.echoed(draft)
    const isReverted = responseRules.length > 0 || echoed.length > 0
    if (!isReverted && draft.ownOptions.size === 0) return next(inner)
    return andThen(next(inner), (outcome) =>
      revert(outcome, {
        request,
        hasEdns: inner.query.hasEdns,
        rules: responseRules,
        echoed,
      }),
    )
  }

  /** Returns the options for the client; as in CoreDNS, including those that it sent itself. */
  private echoed({ request, options }: QuestionDraft): EdnsOption[] {
    if (this.echoedCodes.size === 0 || !request.query.hasEdns) return []
    const all = options ?? optionsOf(request)
    return all.filter(({ code }) => this.echoedCodes.has(code))
  }
}

function rewritten(draft: QuestionDraft, name: Uint8Array): Request {
  const { request, type, class: rrClass, options, ownOptions } = draft
  const isSame = name === request.name && type === request.type && rrClass === request.class
  if (isSame && options === undefined) return request
  return deriveRequest(request, {
    name,
    type,
    class: rrClass,
    ...(options !== undefined && { options, ownOptions }),
  })
}
