import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ConfigError } from '../../../src/corefile/problem.ts'
import type { LogFormat } from '../../../src/dns/telemetry/log.ts'
import {
  announce,
  CommandError,
  createLog,
  createPrint,
  describeError,
  EXIT,
  whyUnreadable,
} from '../../../src/server/node/output.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import { runCli, Screen } from '../../cli/run-cli.ts'

describe('describeError', () => {
  const at = { file: 'Corefile', column: 3 }
  const cases: { name: string; error: unknown; text: string }[] = [
    {
      name: 'names the command of what the user can mend',
      error: new CommandError('Cannot read a: no such file'),
      text: 'kubedoh: Cannot read a: no such file',
    },
    {
      name: 'writes each problem of a Corefile as compilers do',
      error: new ConfigError([
        { ...at, line: 2, message: 'first' },
        { ...at, line: 7, message: 'second' },
      ]),
      text: 'Corefile:2:3: first\nCorefile:7:3: second',
    },
    {
      name: 'keeps to one line for errors that were foreseen elsewhere',
      error: new SnapshotError('Cannot open shard: it is short'),
      text: 'kubedoh: Cannot open shard: it is short',
    },
    { name: 'takes what is no error', error: 'text', text: 'kubedoh: text' },
  ]
  for (const { name, error, text } of cases) {
    test(name, () => {
      assert.equal(describeError(error), text)
    })
  }

  for (const error of [new Error('a'), new TypeError('b'), new RangeError('c')]) {
    test(`prints the stack of unexpected errors: ${error.name}`, () => {
      const lines = describeError(error).split('\n')
      assert.equal(lines[0], `kubedoh: ${error.name}: ${error.message}`)
      assert.match(lines[1] ?? '', /^ {4}at .*output\.test\.ts/)
    })
  }

  test('takes an error whose stack is not known', () => {
    const error = new Error('a')
    delete error.stack
    assert.equal(describeError(error), 'kubedoh: a')
  })
})

describe('EXIT', () => {
  test('prints the message of main', async () => {
    assert.equal((await runCli(['--help'])).status, EXIT.DONE)
    assert.equal((await runCli(['check', '/none'])).status, EXIT.FAILED)
    assert.equal((await runCli(['diff'])).status, EXIT.USAGE)
  })
})

describe('a stream', () => {
  const write = (format: LogFormat | undefined): { stdout: string; stderr: string } => {
    const { stdout, stderr, text } = new Screen()
    const output = { stdout, stderr, format }
    announce(output, 'ready: a')
    createPrint(output)('[INFO] b')
    createLog(output)({ level: 'error', message: 'c' })
    return text
  }
  const json = (level: string, message: string): RegExp =>
    new RegExp(`^{"time":"[^"]+","level":"${level}","message":"${message}"}$`)

  test("has by default CoreDNS's lines and the bare ready line, or JSON", () => {
    const { stdout, stderr } = write(undefined)
    assert.equal(stdout, 'ready: a\n[INFO] b\n')
    assert.match(stderr.trimEnd(), json('error', 'c'))
  })

  test("has CoreDNS's lines only", () => {
    const coredns = { stdout: '[INFO] ready: a\n[INFO] b\n', stderr: '[ERROR] c\n' }
    assert.deepEqual(write('coredns'), coredns)
  })

  test('has JSON only', () => {
    const { stdout, stderr } = write('json')
    const [ready = '', line = ''] = stdout.split('\n')
    assert.match(ready, json('info', 'ready: a'))
    assert.match(line, json('info', 'b'))
    assert.match(stderr.trimEnd(), json('error', 'c'))
  })
})

describe('createLog', () => {
  test('writes one object a line to standard error, with the time', () => {
    const screen = new Screen()
    const log = createLog(screen)
    const beforeMs = Date.now()
    log({ level: 'info', message: 'a\nb', count: 1 })
    log({ level: 'error', message: 'c' })
    const [first = '', second = '', ...rest] = screen.text.stderr.split('\n')
    assert.deepEqual(rest, [''])
    const { time, ...event }: { time: string } = JSON.parse(first)
    assert.deepEqual(event, { level: 'info', message: 'a\nb', count: 1 })
    assert.ok(beforeMs <= Date.parse(time) && Date.parse(time) <= Date.now())
    assert.match(second, /"message":"c"/)
    assert.equal(screen.text.stdout, '')
  })
})

test('whyUnreadable distinguishes missing and unreadable files', () => {
  assert.equal(whyUnreadable('/none/such'), 'no such file')
  assert.equal(whyUnreadable('/'), 'it is not a file')
  assert.equal(whyUnreadable(import.meta.filename), 'it is too large')
  assert.equal(whyUnreadable(`${import.meta.filename}/x`), 'a part of the path is not a folder')
  assert.equal(whyUnreadable(`/${'a'.repeat(300)}`), 'ENAMETOOLONG')
})
