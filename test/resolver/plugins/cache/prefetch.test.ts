import { describe, test } from 'vitest'
import type { UpstreamAct } from '../../../fake-host.ts'
import { answer, follow, type Step, serveActs } from './follow.ts'

describe('popular answers', () => {
  const cases: { name: string; options: string[]; acts: UpstreamAct[]; steps: Step[] }[] = [
    {
      name: 'are requested again when a tenth of their time is left',
      options: ['prefetch 1'],
      acts: [answer(1, 80), answer(2, 80)],
      steps: [
        { at: 0, reply: 'NOERROR 1 80', asked: 1 },
        { at: 71, reply: 'NOERROR 1 9', asked: 1 },
        { at: 73, reply: 'NOERROR 1 7', asked: 2 },
        { at: 80, reply: 'NOERROR 2 73', asked: 2 },
      ],
    },
    {
      name: 'are requested again a second before at the latest',
      options: ['prefetch 1'],
      acts: [answer(1, 5), answer(2, 5)],
      steps: [
        { at: 0, reply: 'NOERROR 1 5', asked: 1 },
        { at: 1, reply: 'NOERROR 1 4', asked: 1 },
        { at: 4, reply: 'NOERROR 1 1', asked: 2 },
        { at: 5, reply: 'NOERROR 2 4', asked: 2 },
      ],
    },
    {
      name: 'are requested again sooner when configured so',
      options: ['prefetch 1 1m 50%'],
      acts: [answer(1, 80), answer(2, 80)],
      steps: [
        { at: 0, reply: 'NOERROR 1 80', asked: 1 },
        { at: 40, reply: 'NOERROR 1 40', asked: 2 },
      ],
    },
    {
      name: 'are those that were requested often, without long pauses',
      options: ['prefetch 2 10s'],
      acts: [answer(1, 80)],
      steps: [
        { at: 0, reply: 'NOERROR 1 80', asked: 1 },
        { at: 60, reply: 'NOERROR 1 20', asked: 1 },
        { at: 74, reply: 'NOERROR 1 6', asked: 1 },
        { at: 75, reply: 'NOERROR 1 5', asked: 2 },
      ],
    },
    {
      name: 'stay popular with their new answer',
      options: ['prefetch 2'],
      acts: [answer(1, 10), answer(2, 10), answer(3, 10)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 1, reply: 'NOERROR 1 9', asked: 1 },
        { at: 9, reply: 'NOERROR 1 1', asked: 2 },
        { at: 18, reply: 'NOERROR 2 1', asked: 3 },
      ],
    },
    {
      name: 'are none for a threshold of zero',
      options: ['prefetch 0'],
      acts: [answer(1, 10)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 9, reply: 'NOERROR 1 1', asked: 1 },
      ],
    },
    {
      name: 'stay what they are when a failure comes in their place',
      options: ['prefetch 1'],
      acts: [answer(1, 10), ['SERVFAIL']],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 9, reply: 'NOERROR 1 1', asked: 2 },
      ],
    },
  ]
  for (const { name, options, acts, steps } of cases) {
    test(name, async () => {
      await follow(serveActs(options, acts), steps)
    })
  }

  test('are not fetched again where nothing runs after a response', async () => {
    const server = serveActs(['prefetch 1'], [answer(1)], { isolatesRequests: true })
    await follow(server, [
      { at: 0, reply: 'NOERROR 1 10', asked: 1 },
      { at: 9, reply: 'NOERROR 1 1', asked: 1 },
    ])
  })
})
