import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { directive, problemsOf, serve } from '../../../ask.ts'

const served = (line: string): string => `https://. {\n  ${line}\n  whoami\n}`

describe('https', () => {
  for (const { line, connectionsMax } of [
    { line: 'https', connectionsMax: undefined },
    { line: directive('https', 'max_connections 300'), connectionsMax: 300 },
    { line: directive('https', 'max_connections 0'), connectionsMax: Infinity },
  ]) {
    test(`bounds connections to ${connectionsMax}`, () => {
      const [listener] = serve(served(line)).resolver.listeners
      assert.equal(listener?.httpConnectionsMax, connectionsMax)
    })
  }

  const problems: { line: string; problem: string }[] = [
    { line: 'https 200', problem: ':2:9: "https" takes no arguments, got "200"' },
    {
      line: directive('https', 'max_connections'),
      problem: ':3:5: "max_connections" takes 1 argument(s), got 0',
    },
    {
      line: directive('https', 'max_connections -1'),
      problem: ':3:21: "-1" is not a number from 0 to 2147483647',
    },
    {
      line: directive('https', 'max_connections 1', 'max_connections 2'),
      problem: ':4:5: "max_connections" appears twice; remove one',
    },
    {
      line: directive('https', 'max_streams 1'),
      problem: ':3:5: "https" has no option "max_streams"; it has max_connections',
    },
  ]
  for (const { line, problem } of problems) {
    test(`refuses "${line.replaceAll(/\s+/g, ' ')}"`, () => {
      assert.deepEqual(problemsOf(served(line)), [`Corefile${problem}`])
    })
  }
})
