import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseTrace } from '../../../../src/resolver/plugins/trace/setup.ts'
import { block, directive, parseDirective, problemsOf } from '../../../ask.ts'

function parse(head: string, ...options: readonly string[]): ReturnType<typeof parseTrace> {
  return parseTrace([parseDirective(directive(head, ...options))])
}

describe('the options of trace', () => {
  test('have defaults', () => {
    assert.deepEqual(parse('trace'), {
      every: 1,
      notices: [],
      reporter: {
        format: 'zipkin',
        url: 'http://localhost:9411/api/v2/spans',
        service: 'coredns',
        backlogMax: 1000,
        batchMax: 100,
        intervalMs: 1000,
      },
    })
  })

  const urls: [head: string, url: string][] = [
    ['trace tracer:9253', 'http://tracer:9253/api/v2/spans'],
    ['trace zipkin tracer:9253', 'http://tracer:9253/api/v2/spans'],
    ['trace ZIPKIN https://tracer/x/api/v2/spans', 'https://tracer/x/api/v2/spans'],
    ['trace otlp tracer:4318', 'http://tracer:4318/v1/traces'],
    ['trace otlp ""', 'http://localhost:4318/v1/traces'],
    ['trace otlp http://tracer:4318/v1/traces', 'http://tracer:4318/v1/traces'],
  ]
  for (const [head, url] of urls) {
    test(`send "${head}" to ${url}`, () => {
      assert.equal(parse(head).reporter.url, url)
    })
  }

  test('are all read', () => {
    const { every, reporter, notices } = parse(
      'trace',
      'every 100',
      'service dns',
      'client_server false',
      'datadog_analytics_rate 0.5',
      'zipkin_max_backlog_size 50',
      'zipkin_max_batch_size 0',
      'zipkin_max_batch_interval 2s',
    )
    assert.equal(every, 100)
    const { service, backlogMax, batchMax, intervalMs } = reporter
    assert.deepEqual([service, backlogMax, batchMax, intervalMs], ['dns', 50, 100, 2000])
    assert.deepEqual(notices, [
      {
        file: 'Corefile',
        line: 5,
        column: 5,
        message: '"client_server" has no effect: kubedoh does not continue clients\' traces',
      },
    ])
  })

  const problems: { name: string; line: string; problem: string }[] = [
    {
      name: 'a third argument',
      line: 'trace zipkin a b',
      problem: 'Corefile:2:18: "trace" takes at most 2 argument(s), got "b"',
    },
    {
      name: 'an invalid collector',
      line: 'trace jaeger a',
      problem: 'Corefile:2:9: "jaeger" is not a collector; use "zipkin" or "otlp"',
    },
    {
      name: "Datadog's own protocol",
      line: 'trace datadog localhost:8126',
      problem:
        'Corefile:2:9: "datadog" is not a collector; use "zipkin" or "otlp" ' +
        "with the agent's OTLP port",
    },
    {
      name: 'an invalid place',
      line: 'trace http://',
      problem: 'Corefile:2:9: "http://" is neither HOST:PORT nor a URL of a collector',
    },
    {
      name: 'an invalid word',
      line: directive('trace', 'sample 3'),
      problem:
        'Corefile:3:5: "trace" has no option "sample"; it has every, service, client_server, ' +
        'datadog_analytics_rate, zipkin_max_backlog_size, zipkin_max_batch_size, ' +
        'zipkin_max_batch_interval',
    },
    {
      name: 'no number of queries',
      line: directive('trace', 'every'),
      problem: 'Corefile:3:5: "every" takes 1 argument(s), got 0',
    },
    {
      name: 'a negative number of queries',
      line: directive('trace', 'every -1'),
      problem: 'Corefile:3:11: "-1" is not a number from 0 to 9007199254740991',
    },
    {
      name: 'what is neither true nor false',
      line: directive('trace', 'client_server yes'),
      problem: 'Corefile:3:19: "yes" is neither true nor false',
    },
    {
      name: 'a rate over 1',
      line: directive('trace', 'datadog_analytics_rate 1.5'),
      problem: 'Corefile:3:28: "1.5" is not a rate from 0 to 1',
    },
  ]
  for (const { name, line, problem } of problems) {
    test(`refuse ${name}`, () => {
      assert.deepEqual(problemsOf(block(line)), [problem])
    })
  }
})
