/**
 * The `view` plugin: conditions on queries for its server block (CoreDNS, plugin/view).
 * @module
 */

import { checkArgs, onlyDirective, options, unknownOption } from '../../../corefile/arguments.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Expression } from '../../../go/expression/expression.ts'
import { formatExpressionType } from '../../../go/expression/type.ts'
import { ExpressionError } from '../../../go/expression/value.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { compileWords } from '../../plugin-kit/expression-words.ts'
import { type QueryContext, queryFunctions } from '../../plugin-kit/query-functions.ts'
import { metadataOf } from '../metadata/metadata.ts'

/** The metadata label of the view's name. */
const NAME_LABEL = 'view/name'

/** Configures `view NAME { expr EXPRESSION… }`; a query must meet every condition. */
export const viewPlugin: PluginEntry = {
  name: 'view',
  admitsSome: true,
  variesByClient: () => true,
  blockSettings: ([directive]) => ({ view: directive?.args[0]?.text ?? '' }),
  setup: (directives, { peers }) => {
    const directive = onlyDirective(directives)
    const [name] = checkArgs(directive, 1)
    if (name === undefined) throw configError(directive, '"view" takes a name')
    const functions = queryFunctions()
    const metadata = metadataOf(peers)
    const notices: Problem[] = []
    const conditions = options(directive).map((option) => {
      if (option.name !== 'expr') throw unknownOption('view', option, ['expr'])
      const condition = compileWords(option, option.args, functions)
      const { kind } = condition.type
      if (kind !== 'bool' && kind !== 'unknown') {
        const what = `a condition of view "${name.text}" is ${formatExpressionType(condition.type)}`
        const message = `${what}, which is never true: its server block serves no query`
        notices.push(problemAt(option, message))
      }
      return condition
    })
    return {
      notices,
      plugin: {
        name: 'view',
        admits: (query, client) => {
          if (conditions.length === 0) return true
          const clientQuery = { query, client }
          const context = {
            query,
            client,
            metadata: (label: string) => metadata(label, clientQuery),
          }
          return conditions.every((condition) => isMet(condition, context))
        },
        metadata: (label) => (label === NAME_LABEL ? name.text : undefined),
      },
    }
  },
}

/** Evaluates a condition. As in CoreDNS, an error silently counts as not met. */
function isMet({ evaluate }: Expression<QueryContext>, context: QueryContext): boolean {
  try {
    return evaluate(context) === true
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return false
  }
}
