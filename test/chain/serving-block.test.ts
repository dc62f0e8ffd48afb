import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { STANDARD_PORTS } from '../../src/chain/server-address.ts'
import { servingBlock } from '../../src/chain/serving-block.ts'
import { nameOf } from '../../src/dns/name.ts'
import { ALL_PLUGINS } from '../../src/plugins/all-plugins.ts'
import { parseBlocks } from '../ask.ts'

/** The line of the block that serves a name where the first block listens. */
function lineFor(corefile: string, name: string): number | undefined {
  const blocks = parseBlocks(corefile)
  const first = blocks[0] ?? assert.fail()
  const key = first.keys[0] ?? assert.fail()
  const place = { key, block: first, blocks, ports: STANDARD_PORTS, plugins: ALL_PLUGINS }
  return servingBlock(nameOf(name), place)?.line
}

describe('servingBlock', () => {
  const cases: { name: string; corefile: string; asked: string; line: number | undefined }[] = [
    { name: 'is the only one', corefile: '. {\n}', asked: 'a.test', line: 1 },
    { name: 'is none for other names', corefile: 'a.test {\n}', asked: 'b.test', line: undefined },
    {
      name: 'has the longest zone',
      corefile: '. {\n}\ntest {\n}\na.test {\n}',
      asked: 'x.a.test',
      line: 5,
    },
    {
      name: 'is at the same port, said or not',
      corefile: '. {\n}\na.test:5353 {\n}\ntest:53 {\n}',
      asked: 'a.test',
      line: 5,
    },
    {
      name: 'has the same transport',
      corefile: '. {\n}\ntls://a.test:53 {\n}',
      asked: 'a.test',
      line: 1,
    },
    {
      name: 'has the same addresses',
      corefile: '. {\n}\na.test {\nbind 192.0.2.1\n}',
      asked: 'a.test',
      line: 1,
    },
    {
      name: 'is not certain when one takes only some queries',
      corefile: '. {\n}\na.test {\nview x\n}',
      asked: 'a.test',
      line: undefined,
    },
    {
      name: 'is not certain when two have the zone',
      corefile: '. {\n}\na.test {\nview x\n}\na.test {\n}',
      asked: 'a.test',
      line: undefined,
    },
  ]
  for (const { name, corefile, asked, line } of cases) {
    test(name, () => {
      assert.equal(lineFor(corefile, asked), line)
    })
  }
})
