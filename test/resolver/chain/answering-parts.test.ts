import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../src/dns/names/name.ts'
import { answeringParts, common, hasAnswers } from '../../../src/resolver/chain/answering-parts.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { block, parseBlocks } from '../../ask.ts'

function texts(zones: readonly Uint8Array[]): string {
  return zones.map((zone) => formatName(zone)).join(' ')
}

describe('answeringParts reads', () => {
  const cases: { name: string; text: string; parts: string[] }[] = [
    { name: 'no plugin that only helps', text: block('cache', 'log', 'rewrite x'), parts: [] },
    { name: 'zones of the block', text: 'a.test {\nhosts\n}', parts: ['hosts a.test. all'] },
    {
      name: 'zones after a file',
      text: block('hosts db a.test', 'file db b.test c.test'),
      parts: ['hosts a.test. all', 'file b.test. c.test. all'],
    },
    {
      name: 'zones after class and type',
      text: block('template IN A a.test'),
      parts: ['template a.test.'],
    },
    {
      name: 'the first argument of forward',
      text: block('forward a.test 192.0.2.1 192.0.2.2'),
      parts: ['forward a.test. all'],
    },
    {
      name: 'a forward that leaves names to others',
      text: block('forward . 192.0.2.1 {\n except a.test\n }'),
      parts: ['forward .'],
    },
    {
      name: 'zones only as far as they are in the block',
      text: 'a.test b.test {\nkubernetes x.a.test . c.test\n}',
      parts: ['kubernetes x.a.test. a.test. b.test. all'],
    },
    {
      name: 'what is let through',
      text: block('hosts {\n fallthrough\n }', 'kubernetes a.test {\n fallthrough b.test\n }'),
      parts: ['hosts . all but .', 'kubernetes a.test. all but b.test.'],
    },
  ]
  for (const { name, text, parts } of cases) {
    test(name, () => {
      const [one] = parseBlocks(text)
      const read = answeringParts(one ?? assert.fail(), ALL_PLUGINS).map((part) => {
        const words = [part.directive.name, texts(part.zones)]
        if (part.takesAll) words.push('all')
        if (part.fallthrough.length > 0) words.push('but', texts(part.fallthrough))
        return words.join(' ')
      })
      assert.deepEqual(read, parts)
    })
  }
})

test('hasAnswers returns whether a plugin may answer', () => {
  const of = (...lines: string[]): boolean => {
    return hasAnswers(parseBlocks(block(...lines))[0] ?? assert.fail(), ALL_PLUGINS)
  }
  assert.equal(of('cache', 'errors', 'loadbalance'), false)
  assert.equal(of('cache', 'whoami'), true)
  assert.equal(of('acl'), true)
})

test('common has names of both lists', () => {
  const zones = (text: string): Uint8Array[] => text.split(' ').map(nameOf)
  assert.equal(
    texts(common(zones('. a.test'), zones('x.a.test b.test'))),
    'x.a.test. b.test. x.a.test.',
  )
  assert.equal(texts(common(zones('a.test'), zones('b.test'))), '')
})
