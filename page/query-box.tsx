/**
 * The query box: a name, a type, and the response as people read it or as dig prints it.
 * @module
 */

import { useLayoutEffect, useState } from 'hono/jsx/dom'
import { type Answer, describeReply, type PageQuestion, type Row } from './answer.ts'
import { errorTexts, formatDig } from './dig.ts'
import { Explanation } from './explanation.tsx'
import { GatewayFailure, readNames, readQuery, sendQuery } from './gateway.ts'
import { completions, type Zone } from './names.ts'
import { visible } from './visible.ts'

const TYPES = ['A', 'AAAA', 'SRV', 'CNAME', 'TXT', 'PTR', 'NS', 'SOA', 'MX', 'HTTPS', 'SVCB', 'ANY']
/** How long nobody types before the page queries. */
const PAUSE_MS = 350
const SUGGESTIONS = '8'
const SUGGESTED_ZONES = 3

type Result =
  | { readonly kind: 'none' }
  | { readonly kind: 'problem'; readonly text: string }
  | {
      readonly kind: 'done'
      readonly asked: PageQuestion
      readonly reply: Uint8Array
      readonly tookMs: number
      readonly when: string
    }

type Props = {
  readonly token: string
  readonly question: PageQuestion
  readonly zones: readonly Zone[]
  readonly onAsk: (name: string, type: string) => void
}

/** The query box and its result. */
export function QueryBox(props: Props) {
  const { question, zones, onAsk } = props
  const { result, isBusy } = useResult(props)
  const suggestions = useSuggestions(props)
  const fields = (): readonly [string, string] => {
    const [name, type] = ['name', 'type'].map((id) => {
      const field = document.getElementById(id)
      return field instanceof HTMLInputElement || field instanceof HTMLSelectElement
        ? field.value
        : ''
    })
    return [(name ?? '').trim(), type ?? 'A']
  }
  const problem = result.kind === 'problem' ? result.text : ''
  return (
    <section class="card query" aria-labelledby="query-title">
      <h2 id="query-title">Resolve a name</h2>
      <form
        class="row"
        onSubmit={(event: Event) => {
          event.preventDefault()
          onAsk(...fields())
        }}
      >
        <label class="sr" for="name">
          Name
        </label>
        <input
          id="name"
          list="suggestions"
          value={question.name}
          placeholder="web.shop.svc.example.org"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxlength={2000}
          aria-invalid={problem === '' ? 'false' : 'true'}
          aria-describedby="query-problem"
          onInput={() => onAsk(...fields())}
        />
        <datalist id="suggestions">
          {suggestions.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <label class="sr" for="type">
          Type
        </label>
        <select id="type" value={question.type} onChange={() => onAsk(...fields())}>
          {TYPES.map((type) => (
            <option key={type} value={type} selected={type === question.type}>
              {type}
            </option>
          ))}
        </select>
        <button type="submit">Resolve</button>
      </form>
      <p id="query-problem" class="problem" role="status">
        {problem}
      </p>
      {result.kind === 'done' ? (
        <Done result={result} {...props} isBusy={isBusy} />
      ) : (
        problem === '' && (
          <p class="hint">
            {zones.length === 0
              ? 'Type a name, such as SERVICE.NAMESPACE.svc.ZONE.'
              : 'Type a name, or pick one below.'}
          </p>
        )
      )}
    </section>
  )
}

/** Queries after a pause in typing. The last result stays until the next one arrives. */
function useResult({ token, question }: Props): {
  readonly result: Result
  readonly isBusy: boolean
} {
  const [state, setState] = useState<{ result: Result; isBusy: boolean }>({
    result: { kind: 'none' },
    isBusy: false,
  })
  useLayoutEffect(() => {
    if (question.name === '') {
      setState({ result: { kind: 'none' }, isBusy: false })
      return undefined
    }
    const ended = new AbortController()
    const timer = setTimeout(() => {
      setState((before) => ({ ...before, isBusy: true }))
      void ask(question, token, ended.signal).then((result) => {
        if (!ended.signal.aborted) setState({ result, isBusy: false })
      })
    }, PAUSE_MS)
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [token, question.name, question.type, question.serial])
  return state
}

async function ask(asked: PageQuestion, token: string, signal: AbortSignal): Promise<Result> {
  const message = readQuery(asked.name, asked.type)
  if (typeof message === 'string') return { kind: 'problem', text: message }
  const startMs = performance.now()
  try {
    const reply = await sendQuery(message, { token, signal })
    const tookMs = performance.now() - startMs
    return { kind: 'done', asked, reply, tookMs, when: new Date().toString().replace(/ \(.*/, '') }
  } catch (error) {
    const text =
      error instanceof GatewayFailure ? error.failure.message : 'The query was interrupted.'
    return { kind: 'problem', text: visible(text) }
  }
}

/** Names that contain what somebody types, from the zones that the token sees. */
function useSuggestions({ token, question: { name }, zones }: Props): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([])
  const under = zones.slice(0, SUGGESTED_ZONES).map(({ zone }) => zone)
  useLayoutEffect(() => {
    const search = name.replace(/\.$/, '')
    if (search.length < 2 || under.length === 0) return undefined
    const ended = new AbortController()
    const session = { token, signal: ended.signal }
    const timer = setTimeout(() => {
      const pages = under.map((zone) => {
        const own = search.endsWith(`.${zone.slice(0, -1)}`)
          ? search.slice(0, -zone.length)
          : search
        return readNames({ under: zone, search: own, limit: SUGGESTIONS }, session)
      })
      void Promise.all(pages).then(
        (read) => setFound(read.flatMap(({ names }) => names.map((one) => one.name.slice(0, -1)))),
        // Suggestions are a convenience: without them the box still queries.
        () => undefined,
      )
    }, PAUSE_MS)
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [token, name, under.join()])
  return found
}

function Done({
  result,
  token,
  zones,
  onAsk,
  isBusy,
}: Props & { readonly result: Extract<Result, { kind: 'done' }>; readonly isBusy: boolean }) {
  const [form, setForm] = useState<'table' | 'dig'>('table')
  const { asked, reply, tookMs, when } = result
  const answer = describeReply(reply)
  if (answer === undefined) return <p class="problem">The response is not a DNS message.</p>
  const server = `${location.origin}/dns-query`
  return (
    <div class={isBusy ? 'result busy' : 'result'}>
      <div class="verdict">
        <p role="status">
          <span class={`badge ${answer.tone}`}>{answer.status}</span> {answer.sentence}
        </p>
        <p class="took">{tookMs < 1 ? '< 1' : Math.round(tookMs)} ms</p>
        <fieldset class="segments">
          <legend class="sr">Form of the response</legend>
          {(['table', 'dig'] as const).map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="form"
                value={one}
                checked={form === one}
                onChange={() => setForm(one)}
              />
              <span>{one === 'table' ? 'Table' : 'dig'}</span>
            </label>
          ))}
        </fieldset>
      </div>
      {form === 'dig' ? (
        // Long lines scroll, also by keyboard.
        <pre class="dig" tabindex={0}>
          {formatDig({ reply, tookMs, server, when })}
        </pre>
      ) : (
        <Readable answer={answer} reply={reply} />
      )}
      {answer.tone !== 'good' && (
        <Completions name={asked.name} type={asked.type} zones={zones} onAsk={onAsk} />
      )}
      <Explanation
        key={`${token} ${asked.name} ${asked.type} ${asked.serial}`}
        token={token}
        asked={asked}
        onAsk={onAsk}
      />
    </div>
  )
}

function Readable({
  answer: { rows },
  reply,
}: {
  readonly answer: Answer
  readonly reply: Uint8Array
}) {
  const errors = errorTexts(reply)
  return (
    <>
      {errors.map((text) => (
        <p key={text} class="hint">
          {text}
        </p>
      ))}
      {rows.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Type</th>
                <th scope="col">Data</th>
                <th scope="col">TTL</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => (
                <Record key={`${i} ${row.data}`} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function Record({ row: { name, type, ttl, data, detail } }: { readonly row: Row }) {
  return (
    <tr>
      <td class="mono">
        <bdi>{visible(name)}</bdi>
      </td>
      <td>
        <span class="chip">{type}</span>
      </td>
      <td class="mono strong">
        <bdi>{visible(data)}</bdi>
        {detail !== '' && <span class="detail">{detail}</span>}
      </td>
      <td class="num">{ttl}</td>
    </tr>
  )
}

function Completions({
  name,
  type,
  zones,
  onAsk,
}: {
  readonly name: string
  readonly type: string
  readonly zones: readonly Zone[]
  readonly onAsk: (name: string, type: string) => void
}) {
  const found = completions(name, zones)
  if (found.length === 0) return null
  return (
    <p class="hint">
      Did you mean{' '}
      {found.map((one) => (
        <button key={one} type="button" class="link" onClick={() => onAsk(one, type)}>
          {visible(one)}
        </button>
      ))}
    </p>
  )
}
