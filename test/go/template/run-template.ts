/**
 * Templates and what becomes of them, as lines of text.
 * @module
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import type { Value } from '../../../src/go/expression/value.ts'
import { type Struct, TemplateError } from '../../../src/go/template/datum.ts'
import { executeTemplate } from '../../../src/go/template/execute.ts'
import { TEMPLATE_FUNCTIONS } from '../../../src/go/template/functions.ts'
import { parseTemplate } from '../../../src/go/template/parser.ts'
import { queryData } from '../../../src/resolver/plugins/template/query-data.ts'
import { parseQuestion } from '../../message-text.ts'

const VARIABLES = new Map<string, Value>([
  ['n', 42n],
  ['f', 1.5],
  ['t', 'text'],
  ['list', [1n, 'a', undefined]],
  ['texts', ['x', 'y']],
  [
    'map',
    new Map<Value, Value>([
      ['k', 1n],
      ['a', 'b'],
    ]),
  ],
  ['yes', true],
  ['nil', undefined],
])

/** A template and what comes of it. */
export type Case = readonly [template: string, outcome: string]

/** Executes a template: its text, or `refused: …`, or `error: …`. */
export function outcomeOf(template: string): string {
  try {
    const parsed = parseTemplate(template, new Set(TEMPLATE_FUNCTIONS.keys()))
    try {
      return executeTemplate(parsed, dataOf('WWW.Example.org AAAA +edns=1232 +do +id=4711'))
    } catch (error) {
      if (error instanceof TemplateError) return `error: ${error.message}`
      throw error
    }
  } catch (error) {
    if (error instanceof TemplateError) return `refused: ${error.message}`
    throw error
  }
}

/** Makes the data of templates for a question. */
export function dataOf(question: string): Struct {
  const query = parseQuery(parseQuestion(question).message)
  if (query.kind === 'refusal') throw new TypeError(`No query: ${question}`)
  return queryData({
    query,
    name: nameOf(question.split(' ')[0] ?? ''),
    remote: '192.0.2.7',
    zone: 'example.org.',
    lowerName: 'www.example.org.',
    class: 'IN',
    type: 'AAAA',
    regex: '^(www)[.](?P<rest>.*)$',
    groups: ['www.example.org.', 'www', 'example.org.'],
    groupNames: ['', '', 'rest'],
    variables: VARIABLES,
    metadata: (label) => (label === 'a/b' ? 'known' : undefined),
  })
}

/** Makes a test of each case. */
export function testOutcomes(cases: readonly Case[]): void {
  for (const [template, outcome] of cases) {
    test(`makes ${JSON.stringify(outcome)} of ${template}`, () => {
      assert.equal(outcomeOf(template), outcome)
    })
  }
}
