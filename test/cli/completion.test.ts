import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { runCli } from './run-cli.ts'

async function scriptFor(shell: string): Promise<string> {
  const { status, stdout, stderr } = await runCli(['completion', shell])
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
}

/** Returns what bash offers for words, of which the last is being typed. */
function offered(script: string, words: readonly string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const last = `COMP_WORDS=(kubedoh ${quoted}); COMP_CWORD=${words.length}; _kubedoh`
  const text = execFileSync('bash', [
    '--norc',
    '-uc',
    `${script}\n${last}\necho "\${COMPREPLY[*]-}"`,
  ])
  return text.toString().split(/\s+/).filter(Boolean)
}

describe('the completion of bash', () => {
  const cases = [
    { words: ['to'], offers: ['token'] },
    {
      words: ['token', ''],
      offers: ['create', 'list', 'revoke', 'rotate', 'host', 'restore', 'export', 'import'],
    },
    { words: ['token', 'create', '--n'], offers: ['--namespaces'] },
    { words: ['serve', '--c'], offers: ['--conf'] },
    // Without an offer, bash completes the names of files.
    { words: ['serve', '--conf', ''], offers: [] },
    { words: ['serve', '--conf', '--'], offers: [] },
    { words: ['check', ''], offers: [] },
    { words: ['nothing', '--'], offers: [] },
  ]
  for (const { words, offers } of cases) {
    test(`of "${words.join(' ')}" offers ${offers.join(' ') || 'files'}`, async () => {
      assert.deepEqual(offered(await scriptFor('bash'), words), offers)
    })
  }

  test('offers each flag of each command', async () => {
    const script = await scriptFor('bash')
    for (const { name, flags = [] } of COMMANDS) {
      const all = [...flags, 'help'].map((flag) => `--${flag}`)
      assert.deepEqual(offered(script, [...name.split(' '), '--']), all)
    }
  })
})

describe('the completion of other shells', () => {
  test('have each command and its summary', async () => {
    for (const shell of ['zsh', 'fish']) {
      const script = await scriptFor(shell)
      for (const { name, summary } of COMMANDS) {
        const word = name.split(' ').at(-1) ?? ''
        assert.ok(script.includes(word), `${shell}: ${name}`)
        const [plain = ''] = summary.split("'")
        assert.ok(script.includes(plain), `${shell}: ${summary}`)
      }
    }
  })
})

test('refuses other shells', async () => {
  const { status, stderr } = await runCli(['completion', 'tcsh'])
  assert.equal(status, 2)
  assert.match(stderr, /^kubedoh: "tcsh" is not one of bash, zsh, fish\n/)
})
