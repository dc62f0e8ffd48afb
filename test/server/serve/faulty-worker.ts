/**
 * A worker that serves nothing; the option `files` selects its behavior. `dies` exits at once;
 * `dies-later MARK` throws at its first query unless the file MARK exists; `silent` answers no
 * queries; `refuses` cannot serve; `stays` does not stop; `hangs` hangs once it serves.
 * @module
 */

import { existsSync, writeFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { keyOf } from '../../../src/server/serve/cluster-wanted.ts'
import type { FromWorker, ToWorker } from '../../../src/server/serve/worker-messages.ts'

const say = (message: FromWorker): void => {
  parentPort?.postMessage(message)
}

let [what = '', mark = ''] = ['', '']

parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'stop' && what !== 'stays') process.exit(0)
  if (message.kind === 'query' && what === 'dies-later' && !existsSync(mark)) {
    writeFileSync(mark, '')
    throw new Error('dies later')
  }
  if (message.kind === 'query' && what !== 'silent')
    say({ kind: 'reply', id: message.id, lines: [] })
  if (message.kind === 'watch' && message.options.folder === '/hangs') {
    for (const one of message.clusters) {
      say({ kind: 'watched', cluster: keyOf(one), snapshot: { freshness: 'fresh' } })
    }
    say({ kind: 'serving', ports: [] })
    hang()
  }
  if (message.kind === 'watch') {
    // The folder has the behavior: the path of a mark that the first such worker leaves.
    const isFirst = !existsSync(message.options.folder)
    writeFileSync(message.options.folder, '')
    if (isFirst) process.exit(7)
    say({ kind: 'watched', cluster: 'unknown', snapshot: { freshness: 'fresh' } })
    say({ kind: 'failed', message: 'still faulty' })
  }
  if (message.kind !== 'serve') return
  ;[what = '', mark = ''] = message.options.files.split(' ')
  if (what === 'dies') process.exit(7)
  if (what === 'aborts') say({ kind: 'abort', message: 'a plugin says so' })
  if (what === 'refuses') say({ kind: 'failed', message: 'cannot' })
  else say({ kind: 'serving', ports: [53] })
  if (what === 'hangs') hang()
})

/** Never returns; messages that were sent before still arrive. */
function hang(): void {
  setTimeout(() => {
    for (;;);
  }, 10)
}
