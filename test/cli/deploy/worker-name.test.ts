import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  deriveWorkerName,
  isWorkerName,
  rateLimitNamespace,
  STAGING_SUFFIX,
  WORKER_NAME_MAX,
} from '../../../src/cli/deploy/worker-name.ts'

/** A label of a host (RFC 1035 §2.3.4): the Worker's below workers.dev. */
const LABEL_MAX = 63

describe('the name of a Worker', () => {
  const cases = [
    { folder: 'names-prod', name: 'names-prod' },
    { folder: 'Names_of Prod!', name: 'names-of-prod' },
    { folder: 'namesOfProd', name: 'names-of-prod' },
    { folder: '--a..b--', name: 'a-b' },
    { folder: '.hidden', name: 'hidden' },
    { folder: 'Größe 2', name: 'gro-e-2' },
    { folder: '名前', name: '' },
    { folder: '', name: '' },
  ]
  for (const { folder, name } of cases) {
    test(`is "${name}" for the folder "${folder}"`, async () => {
      assert.equal(await deriveWorkerName(folder), name)
      assert.equal(isWorkerName(name), name !== '')
    })
  }

  test('of a long folder is bounded, and differs where only the end does', async () => {
    const folders = ['-one', '-two', 'x'.repeat(5000)].map((end) => 'a-'.repeat(60) + end)
    const names = await Promise.all(folders.map(deriveWorkerName))
    assert.equal(new Set(names).size, folders.length)
    for (const name of names) {
      assert.ok(isWorkerName(name), name)
      assert.ok(`${name}${STAGING_SUFFIX}`.length <= LABEL_MAX, name)
    }
  })

  test('that is given is checked', () => {
    const refused = [
      '',
      'A',
      '-a',
      'a-',
      'a_b',
      'a.b',
      'a b',
      'a"',
      'a'.repeat(WORKER_NAME_MAX + 1),
    ]
    for (const name of refused) assert.equal(isWorkerName(name), false, name)
    for (const name of ['a', '0', 'a--b', 'a'.repeat(WORKER_NAME_MAX)]) {
      assert.equal(isWorkerName(name), true, name)
    }
  })
})

test('the namespace of a rate limit is a positive number, stable for a name', async () => {
  const names = ['a', 'b', 'a-staging', 'kubedoh']
  const ids = await Promise.all(names.map(rateLimitNamespace))
  assert.deepEqual(ids, await Promise.all(names.map(rateLimitNamespace)))
  assert.equal(new Set(ids).size, names.length)
  for (const id of ids) assert.match(id, /^[1-9]\d{0,9}$/)
})
