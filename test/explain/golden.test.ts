import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { formatExplanation } from '../../src/cli/explain/explanation-text.ts'
import { type Answered, WORLDS } from './worlds.ts'

/**
 * Cases as text: `=== WORLD: NAME TYPE`, then what `kubedoh explain` prints. After a change of the
 * wording, `UPDATE=1` rewrites the file; read the difference.
 */
const FILE = join(import.meta.dirname, 'golden.txt')
const CASES_MIN = 60

type Case = { readonly world: string; readonly question: string; readonly text: string }

const cases = readFileSync(FILE, 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((section): Case => {
    const [head = '', ...lines] = section.split('\n')
    const at = head.lastIndexOf(': ')
    return { world: head.slice(0, at), question: head.slice(at + 2), text: lines.join('\n') }
  })

/** Answers and explains a query in a new world, whose caches are empty. */
async function ask({ world, question }: Case): Promise<Answered> {
  const open = WORLDS[world]
  assert.ok(open, `there is a world "${world}"`)
  return (await open())(question)
}

describe('explanations as text', () => {
  const written: string[] = []
  for (const one of cases) {
    test(`${one.world}: ${one.question}`, async () => {
      const { json } = await ask(one)
      const text = `${formatExplanation(json)}\n`
      written.push(`=== ${one.world}: ${one.question}\n${text}`)
      if (process.env.UPDATE === undefined) assert.equal(text, one.text)
    })
  }

  test('are those of the file, which has enough', () => {
    assert.ok(cases.length >= CASES_MIN, `${cases.length} cases`)
    if (process.env.UPDATE !== undefined) writeFileSync(FILE, written.join(''))
  })
})

/** TTLs of cached records and the rotation of addresses differ from query to query. */
function comparable(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^(?:authority: |additional: )?(\S+) \d+ /, '$1 ')).sort()
}

describe('explanations are those of the answers', () => {
  for (const one of cases) {
    test(`${one.world}: ${one.question}`, async () => {
      const { reply, json } = await ask(one)
      const [head = 'no response', ...records] = reply
      assert.equal(json.status, head.split(' ')[0] === 'no' ? 'no response' : head.split(' ')[0])
      const shown = [...json.answer, ...json.authority, ...json.additional]
      assert.deepEqual(
        comparable(shown),
        comparable(records.filter((line) => / \d+ IN /.test(line))),
      )
      const type = one.question.split(' ').at(-1)
      const hasData = json.answer.some((record) => type === 'ANY' || record.split(' ')[3] === type)
      assert.equal(json.reason === null, json.status === 'no response' || hasData, 'a reason')
      assert.deepEqual(
        json.records.map(({ record }) => record),
        shown,
      )
    })
  }
})

describe('similar names exist', () => {
  for (const one of cases.filter(({ text }) => text.includes('did you mean'))) {
    test(`${one.world}: ${one.question}`, async () => {
      const similar = (await ask(one)).json.reason?.didYouMean ?? []
      assert.notEqual(similar.length, 0)
      for (const name of similar) {
        const type = name.startsWith('_') ? 'SRV' : 'ANY'
        const { reply } = await ask({ ...one, question: `${name} ${type}` })
        assert.match(reply[0] ?? '', /^NOERROR/, name)
      }
    })
  }
})
