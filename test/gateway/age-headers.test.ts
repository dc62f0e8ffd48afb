import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { AGE_HEADER, AgeHeaders } from '../../src/gateway/age-headers.ts'

describe('AgeHeaders', () => {
  it('tells seconds', () => {
    const ages = new AgeHeaders()
    assert.deepEqual(ages.of(0), { [AGE_HEADER]: '0' })
    assert.deepEqual(ages.of(1499), { [AGE_HEADER]: '1' })
    assert.deepEqual(ages.of(1500), { [AGE_HEADER]: '2' })
  })

  it('tells nothing where there are no names', () => {
    assert.deepEqual(new AgeHeaders().of(Number.POSITIVE_INFINITY), {})
  })

  it('makes one object for each age, and after many makes them anew', () => {
    const ages = new AgeHeaders()
    const first = ages.of(1000)
    assert.equal(ages.of(1001), first)
    for (let i = 2; i <= 65; i++) ages.of(1000 * i)
    assert.notEqual(ages.of(1000), first)
    assert.deepEqual(ages.of(1000), first)
  })
})
