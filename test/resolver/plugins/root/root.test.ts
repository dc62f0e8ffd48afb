import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const FILES = {
  'zones/table': '192.0.2.1 www.example.org',
  '/etc/table': '192.0.2.2 www.example.org',
}

async function addressIn(...directives: readonly string[]): Promise<string | undefined> {
  const lines = await serve(block(...directives), { files: FILES }).ask('www.example.org A')
  return lines[1]?.split(' ').at(-1)
}

describe('root', () => {
  test('is where relative paths of other plugins begin', async () => {
    assert.equal(await addressIn('hosts table', 'root zones'), '192.0.2.1')
  })

  test('leaves absolute paths alone', async () => {
    assert.equal(await addressIn('root zones', 'hosts /etc/table'), '192.0.2.2')
  })

  test('is the last of several', async () => {
    assert.equal(await addressIn('root a', 'root zones', 'hosts table'), '192.0.2.1')
  })

  test('leaves a block on the fast path', async () => {
    const corefile = block('root zones', 'kubernetes cluster.local')
    const server = serve(corefile, { cluster: { objects: '[]' } })
    assert.equal(await server.isQuick('nosuch.cluster.local A'), true)
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is some folder',
      directives: ['root'],
      problem: 'Corefile:2:3: "root" needs a folder',
    },
    {
      name: 'is one folder',
      directives: ['root a b'],
      problem: 'Corefile:2:10: "root" takes at most 1 argument(s), got "b"',
    },
    {
      name: 'has no options',
      directives: [directive('root a', 'b')],
      problem: 'Corefile:3:5: "root" has no options; remove "b"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
