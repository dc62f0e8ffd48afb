import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parse } from 'yaml'
import { parseObject } from '../../src/cluster/objects/parse-object.ts'
import { FIELDS, replaced, WRONG } from './object-fields.ts'

describe('every field that is read', () => {
  for (const { kind, object, fields } of FIELDS) {
    for (const [path, wanted] of Object.entries(fields)) {
      test(`of a ${kind}: ${path} of another type is a problem`, () => {
        for (const value of WRONG[wanted]) {
          const problem = parseObject(replaced(object, path, value))
          assert.ok(problem?.kind === 'problem', `${path}: ${JSON.stringify(value)}`)
          const [head, rest = ''] = problem.message.split(`: ${path} is `)
          assert.match(head ?? '', new RegExp(`^${kind} (\\w|/| )+$`))
          assert.ok(rest.endsWith(`, expected ${wanted}`), problem.message)
        }
      })
    }

    const optional = Object.keys(fields).filter((path) => !path.endsWith(']'))
    for (const path of optional) {
      const isNeeded = path === 'metadata' || path === 'metadata.name'
      test(`of a ${kind}: ${path} ${isNeeded ? 'must' : 'need not'} exist`, () => {
        for (const value of [null, undefined]) {
          const parsed = parseObject(replaced(object, path, value))
          assert.equal(parsed?.kind, isNeeded ? 'problem' : kind)
        }
      })
    }
  }
})

describe('whatever is read', () => {
  /** Says in one word what came of it. */
  const outcome = (value: unknown): string => {
    const parsed = parseObject(value)
    if (parsed?.kind !== 'problem') return parsed === undefined ? 'passed over' : 'read'
    assert.match(parsed.message, /^.+: .+ is .+, expected .+$/s)
    return 'problem'
  }

  test('gives an object, a problem or nothing, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.match(outcome(value), /^(read|problem|passed over)$/)
      }),
    )
  })

  test('gives an object or a problem, for any JSON in any field', () => {
    const places = FIELDS.flatMap(({ object, fields }) =>
      // Text in "apiVersion" is a reason to pass an object over.
      Object.keys(fields)
        .filter((path) => path !== 'apiVersion')
        .map((path) => ({ object, path })),
    )
    const place = fc.constantFrom(...places)
    fc.assert(
      fc.property(place, fc.jsonValue(), ({ object, path }, value) => {
        assert.match(outcome(replaced(object, path, value)), /^(read|problem)$/)
      }),
      { numRuns: 1000 },
    )
  })

  test('does not throw at values that are not JSON', () => {
    const circular: unknown[] = []
    circular.push(circular)
    const values = [circular, 7n, Symbol('x'), () => 'x', new Map(), new Date(0), Number.NaN]
    for (const value of values) {
      assert.equal(outcome({ kind: 'Pod', metadata: { name: value } }), 'problem')
      assert.equal(outcome({ kind: value, metadata: { name: 'a' } }), 'problem')
    }
  })

  test('does not throw at an object that holds itself', () => {
    const yaml = '&a { kind: Service, metadata: { name: a }, spec: { clusterIP: *a } }'
    assert.equal(outcome(parse(yaml)), 'problem')
  })
})
