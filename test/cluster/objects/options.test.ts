import assert from 'node:assert/strict'
import { test } from 'vitest'
import { namingOptions } from '../../../src/cluster/follow/naming.ts'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { optionsOf } from '../naming.ts'

const place = { file: 'Corefile', line: 1, column: 1 }
const directive = { ...place, name: 'kubernetes', args: [], lines: [] }

test('the default TTL is that of an empty directive', () => {
  const options = parseKubernetes(directive, [nameOf('cluster.local')])
  assert.equal(options.ttlSeconds, 5)
})

test('the default options of these tests are those of an empty directive', () => {
  const options = parseKubernetes(directive, [nameOf('cluster.local')])
  assert.deepEqual(namingOptions(options, []), optionsOf())
})
