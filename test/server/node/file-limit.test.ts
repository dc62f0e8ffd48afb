import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { fileLimit, parseFileLimit } from '../../../src/server/node/file-limit.ts'

const HEAD = 'Limit                     Soft Limit           Hard Limit           Units     \n'

describe('parseFileLimit', () => {
  const CASES = [
    {
      line: 'Max open files            1024                 524288               files',
      limit: 1024,
    },
    {
      line: 'Max open files            unlimited            unlimited            files',
      limit: Infinity,
    },
    {
      line: 'Max processes             256                  256                  processes',
      limit: Infinity,
    },
  ]
  test.for(CASES)('reads "$line"', ({ line, limit }) => {
    assert.equal(parseFileLimit(`${HEAD}Max core 1 1 bytes\n${line} \n`), limit)
  })
})

test.runIf(process.platform === 'linux')('is the limit that the shell has set', () => {
  const file = join(import.meta.dirname, '../../../src/server/node/file-limit.ts')
  const script = `import { fileLimit } from ${JSON.stringify(file)}; console.log(fileLimit())`
  const command = `ulimit -n 333 && exec '${process.execPath}' --input-type=module-typescript -e '${script}'`
  assert.equal(execFileSync('sh', ['-c', command], { encoding: 'utf8' }), '333\n')
  assert.ok(fileLimit() > 0)
})
