import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatAddress } from '../../../../src/dns/names/address.ts'
import { parseLoadbalance } from '../../../../src/resolver/plugins/loadbalance/setup.ts'
import { block, directive, parseBlocks } from '../../../ask.ts'

function read(...directives: readonly string[]): string[] {
  const [first, ...others] = parseBlocks(block(...directives))[0]?.directives ?? []
  if (first === undefined) throw new TypeError('No directive')
  const { policy, preferred } = parseLoadbalance([first, ...others])
  const how = policy.kind === 'weighted' ? [policy.file.text, String(policy.reloadMs)] : []
  const networks = preferred.map((one) => `${formatAddress(one.address)}/${one.prefixBits}`)
  return [policy.kind, ...how, ...networks]
}

describe('parseLoadbalance', () => {
  test('is round_robin when it says nothing', () => {
    assert.deepEqual(read('loadbalance'), ['round_robin'])
  })

  test('reads networks, in any number of lines', () => {
    const lines = directive('loadbalance round_robin', 'prefer 10.0.0.0/8 ::/0', 'prefer')
    assert.deepEqual(read(lines), ['round_robin', '10.0.0.0/8', '::/0'])
  })

  test('reads a file of weights, looked at every 30 seconds when nothing is said', () => {
    assert.deepEqual(read('loadbalance weighted w'), ['weighted', 'w', '30000'])
    assert.deepEqual(read(directive('loadbalance weighted w', 'reload 2m')), [
      'weighted',
      'w',
      '120000',
    ])
  })

  test('uses the last policy of several directives, and all networks after the last file', () => {
    const first = directive('loadbalance', 'prefer 10.0.0.0/8')
    const second = directive('loadbalance', 'prefer ::/0')
    assert.deepEqual(read(first, second), ['round_robin', '10.0.0.0/8', '::/0'])
    assert.deepEqual(read(first, 'loadbalance weighted w', second), ['round_robin', '::/0'])
    assert.deepEqual(read(first, 'loadbalance weighted w'), ['weighted', 'w', '30000'])
  })
})
