/**
 * Why the gateway answers as it does, on request.
 * @module
 */

import { useLayoutEffect, useRef, useState } from 'hono/jsx/dom'
import { isRecord, listOf } from '../src/dns/bytes/unknown.ts'
import type { PageQuestion } from './answer.ts'
import { explain, GatewayFailure } from './gateway.ts'
import { visible } from './visible.ts'

type Props = {
  readonly token: string
  readonly asked: PageQuestion
  readonly onAsk: (name: string, type: string) => void
}

/** The fields of a fact that people read, and their terms. */
const FACT_TERMS: Readonly<Record<string, string>> = {
  object: 'Object',
  zone: 'Zone',
  cluster: 'Cluster',
  freshness: 'Freshness',
  generation: 'Generation',
  time: 'Confirmed',
}

type State =
  | { readonly kind: 'closed' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'open'; readonly body: Readonly<Record<string, unknown>> }

/** A button that explains an answer, and the explanation. */
export function Explanation({ token, asked, onAsk }: Props) {
  const [state, setState] = useState<State>({ kind: 'closed' })
  const shown = useRef<HTMLElement>(null)
  // The button has gone: its focus goes to what replaces it, so that screen readers read that.
  useLayoutEffect(() => shown.current?.focus(), [state.kind])
  const open = async (): Promise<void> => {
    setState({ kind: 'busy' })
    try {
      setState({ kind: 'open', body: await explain(asked.name, asked.type, { token }) })
    } catch (error) {
      setState({ kind: 'failed', text: failureText(error) })
    }
  }
  if (state.kind === 'closed' || state.kind === 'busy') {
    return (
      <button
        type="button"
        class="quiet why"
        disabled={state.kind === 'busy'}
        onClick={() => void open()}
      >
        Why this answer?
      </button>
    )
  }
  return (
    <section class="explanation" aria-label="Why this answer" tabindex={-1} ref={shown}>
      <h3>Why this answer</h3>
      {state.kind === 'failed' ? (
        <p>{visible(state.text)}</p>
      ) : (
        <Body body={state.body} onAsk={onAsk} type={asked.type} />
      )}
    </section>
  )
}

function failureText(error: unknown): string {
  if (!(error instanceof GatewayFailure)) return String(error)
  const { kind, message } = error.failure
  if (kind === 'forbidden')
    return 'This token may not explain answers. Its operator can create one with --allow explain.'
  return kind === 'denied'
    ? 'To have answers explained, enter a token that its operator created with --allow explain.'
    : message
}

function Body({
  body,
  onAsk,
  type,
}: {
  readonly body: Readonly<Record<string, unknown>>
  readonly onAsk: Props['onAsk']
  readonly type: string
}) {
  const { reason, records, serverBlock, plugins, facts } = body
  const why = isRecord(reason) ? reason : {}
  const similar = listOf(why.didYouMean).filter((one) => typeof one === 'string')
  const sources = listOf(records).filter(isRecord)
  return (
    <>
      {typeof why.text === 'string' && <p>{visible(why.text)}.</p>}
      {similar.length > 0 && (
        <p>
          Similar names:{' '}
          {similar.map((name) => (
            <button key={name} type="button" class="link" onClick={() => onAsk(name, type)}>
              {visible(name)}
            </button>
          ))}
        </p>
      )}
      {sources.length > 0 && (
        <ul>
          {sources.map((source, i) => (
            <li key={String(i)}>
              <span class="mono">{textOf(source.record)}</span>
              <span class="detail">{sourceText(source)}</span>
            </li>
          ))}
        </ul>
      )}
      <dl>
        <Pair term="Server block" value={serverBlock} />
        <Pair term="Plugins" value={listOf(plugins).join(' → ')} />
        {listOf(facts)
          .filter(isRecord)
          .map((fact, i) => (
            <Fact key={String(i)} fact={fact} />
          ))}
      </dl>
    </>
  )
}

function Fact({ fact }: { readonly fact: Readonly<Record<string, unknown>> }) {
  const { node } = fact
  const shown: Readonly<Record<string, unknown>> = {
    ...fact,
    object: isRecord(node) ? node.object : undefined,
  }
  return (
    <>
      {Object.entries(FACT_TERMS).map(([field, term]) => (
        <Pair key={field} term={term} value={shown[field]} />
      ))}
    </>
  )
}

function Pair({ term, value }: { readonly term: string; readonly value: unknown }) {
  if (value === undefined || value === null || value === '') return null
  return (
    <div>
      <dt>{visible(term)}</dt>
      <dd>{textOf(value)}</dd>
    </div>
  )
}

function sourceText({ object, rule, plugin }: Readonly<Record<string, unknown>>): string {
  const by = typeof rule === 'string' ? `by the rule “${rule}”` : `by the plugin ${plugin}`
  return visible(typeof object === 'string' ? `${object}, ${by}` : by)
}

function textOf(value: unknown): string {
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}
