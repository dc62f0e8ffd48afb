/**
 * `kubedoh serve` while everything around it fails: real processes and sockets, chances from one
 * seed, every response checked. Run by `npm run test:faults`, longer by `npm run faults:long`;
 * KUBEDOH_FAULT_SEED repeats a run.
 * @module
 */
import { describe, test } from 'vitest'
import { loseApiServer, loseGateway } from './cluster-faults.ts'
import { combine } from './combined-faults.ts'
import { SEED } from './harness.ts'
import { exhaustDescriptors, holdIdle, jumpClock, killAndRestart } from './process-faults.ts'
import { breakUpstream } from './upstream-faults.ts'

describe.concurrent(`kubedoh serve under faults, seed ${SEED}`, () => {
  test(
    'an upstream is dead, silent, slow, late, lying, truncating, failing, flapping',
    breakUpstream,
  )
  test('the API server is away for ten minutes, and back with everything changed', loseApiServer)
  test('the gateway of a fallback is away, then the API server comes', loseGateway)
  test('the wall clock jumps', jumpClock)
  test('descriptors are exhausted', exhaustDescriptors)
  test('SIGKILL and restart', killAndRestart)
  test('one upstream of two, the API server and the Corefile, all at once', combine)
})

describe('kubedoh serve under many connections', () => {
  test('10,000 idle TCP connections', holdIdle)
})
