import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkNdots, checkServer } from '../../src/cli/doctor-dns.ts'
import { freePort } from '../free-port.ts'

describe('checkNdots', () => {
  const SEARCH = 'search shop.svc.cluster.local svc.cluster.local cluster.local\n'
  const cases: [name: string, text: string, isAutopath: boolean, state: string][] = [
    ['of a Pod', `${SEARCH}options ndots:5\n`, false, 'note'],
    ['of a Pod, with autopath', `${SEARCH}options ndots:5\n`, true, 'ok'],
    ['of a Pod with ndots 1', `${SEARCH}options timeout:1 ndots:1\n`, false, 'ok'],
    ['of a machine', 'nameserver 192.0.2.53\nsearch example.org\n', false, 'ok'],
    ['that is empty', '', false, 'ok'],
  ]
  for (const [name, text, isAutopath, state] of cases) {
    test(`a resolv.conf ${name}: ${state}`, () => {
      assert.equal(checkNdots(text, isAutopath).state, state)
    })
  }

  test('counts the queries in vain, of both families', () => {
    const { text, next } = checkNdots(`${SEARCH}options ndots:5\n`, false)
    assert.match(text, /costs 6 queries in vain$/)
    assert.match(next ?? '', /dnsConfig/)
  })
})

test('checkServer reports a server that is away for both transports', async () => {
  const port = await freePort()
  const found = await checkServer({ address: '127.0.0.1', port }, 'cluster.local')
  assert.deepEqual(
    found.map(({ state }) => state),
    ['problem', 'problem'],
  )
})
