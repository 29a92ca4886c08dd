/** Checks a delivery's signature and names the rule that it breaks. It runs in the browser, with the SDK's code. */
import type { Examination, ReceivingRule } from '@deskwire/sdk'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { Field, TextArea, TextInput } from '../../design/field.tsx'
import { Notice } from '../../design/notice.tsx'
import { Page, Panel } from '../../design/page.tsx'
import { Sign, Status } from '../../design/status.tsx'
import { sayDuration } from '../../design/time.tsx'
import { examined, type Result, secretsOf } from './examined.ts'
import { prefill, prefilled } from './prefilled.ts'
import { type Pasted, sampleBody, sampleSecret, signed } from './sample.ts'
import css from './signature-tester.module.css'

const nothing: Pasted = { headers: '', body: '', secrets: '', keys: '' }

export function SignatureTester() {
  const [{ at: givenAt, ...given }] = useState(prefilled)
  const [pasted, setPasted] = useState({ ...nothing, ...given })
  useEffect(() => prefill({}), [])
  const [at, setAt] = useState(givenAt === undefined ? '' : String(givenAt))
  const time = useRef<HTMLInputElement>(null)
  const [tolerance, setTolerance] = useState('300')
  const [fault, setFault] = useState<string | undefined>()
  const result = useExamined(pasted, at, tolerance)
  const put = (change: Partial<Pasted>) => {
    setFault(undefined)
    setPasted((held) => ({ ...held, ...change }))
  }

  async function sign({ body, secrets }: Pick<Pasted, 'body' | 'secrets'>): Promise<void> {
    try {
      const headers = await signed(body, secretsOf(secrets), Date.now())
      setFault(undefined)
      setAt('')
      setPasted({ headers, body, secrets, keys: '' })
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }

  // Browsers give WebCrypto to https and localhost only.
  if (crypto.subtle === undefined) {
    return (
      <Page title="Signature tester">
        <Notice tone="wait" title="This page cannot compute signatures">
          <p>
            Browsers allow it only on https and localhost. Open the console at such an address, or use{' '}
            <code>deskwire signature verify</code>.
          </p>
        </Notice>
      </Page>
    )
  }
  const faults = result.state === 'waiting' ? result.faults : {}
  const lacksSignature = result.state === 'waiting' && result.lacksSignature
  return (
    <Page
      title="Signature tester"
      about="Paste a delivery as your receiver got it. The SDK verifies it in this tab: nothing is sent."
      actions={
        <>
          <Button onClick={() => void sign({ body: sampleBody(Date.now()), secrets: sampleSecret() })}>
            Try a sample
          </Button>
          <Button onClick={() => put(nothing)}>Clear</Button>
        </>
      }
    >
      <div className={css.sides}>
        <Panel title="Received delivery">
          <div className={css.fields}>
            <Field
              label="Secret"
              hint="Including whsec_. During a rotation, one secret per line."
              error={fault ?? faults.secrets}
            >
              <TextArea
                mono
                rows={1}
                spellCheck={false}
                autoComplete="off"
                placeholder="whsec_…"
                value={pasted.secrets}
                onChange={(event) => put({ secrets: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Public keys"
              hint="For asymmetric signatures (v1a): the response of /.well-known/jwks.json."
              error={faults.keys}
            >
              <TextArea
                mono
                rows={1}
                spellCheck={false}
                placeholder='{"keys":[…]}'
                value={pasted.keys}
                onChange={(event) => put({ keys: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Headers"
              hint={
                lacksSignature
                  ? 'Paste the signature header that your receiver got: X-Service-Signature, or the three webhook- headers.'
                  : 'One per line, as curl -v shows them, or a JSON object. Other headers are ignored.'
              }
              error={faults.headers}
            >
              <TextArea
                mono
                rows={5}
                spellCheck={false}
                placeholder={'X-Service-Signature: t=1769851800,v1=…'}
                value={pasted.headers}
                onChange={(event) => put({ headers: event.currentTarget.value })}
              />
            </Field>
            <Field
              label="Raw body"
              hint="The exact bytes. A body that was parsed and written again has another signature."
            >
              <TextArea
                mono
                rows={9}
                spellCheck={false}
                placeholder='{"id":"…","type":"customer.created",…}'
                value={pasted.body}
                onChange={(event) => put({ body: event.currentTarget.value })}
              />
            </Field>
            <div className={css.pair}>
              <Field label="Current time (Unix seconds)" hint="Set it to check an old delivery.">
                <TextInput
                  ref={time}
                  mono
                  inputMode="numeric"
                  placeholder="Now"
                  value={at}
                  onChange={(event) => setAt(digits(event.currentTarget.value))}
                />
              </Field>
              <Field label="Tolerance (seconds)" hint="Accepted difference from the current time.">
                <TextInput
                  mono
                  inputMode="numeric"
                  value={tolerance}
                  onChange={(event) => setTolerance(digits(event.currentTarget.value))}
                />
              </Field>
            </div>
            <div className={css.sign}>
              <Button onClick={() => void sign(pasted)}>Sign this body</Button>
            </div>
          </div>
        </Panel>
        <div className={css.findings}>
          <Findings
            result={result}
            tolerance={tolerance}
            now={at === '' ? null : Number(at)}
            judgeAt={(signedAt) => {
              setAt(String(signedAt))
              // The button goes.
              time.current?.focus()
            }}
          />
        </div>
      </div>
    </Page>
  )
}

const digits = (text: string) => text.replace(/\D/g, '').slice(0, 15)

/** With each change of the input, and every few seconds while the time is now, as a delivery grows old. */
function useExamined(pasted: Pasted, at: string, tolerance: string): Result {
  const [result, setResult] = useState<Result>({ state: 'waiting', faults: {}, lacksSignature: false })
  useEffect(() => {
    let isCurrent = true
    const settings = { at: at === '' ? null : Number(at), tolerance: Number(tolerance) }
    async function look(): Promise<void> {
      const found = await examined(pasted, settings)
      if (isCurrent) setResult(found)
    }
    void look()
    const again = at === '' ? setInterval(() => void look(), 5000) : undefined
    return () => {
      isCurrent = false
      clearInterval(again)
    }
  }, [pasted, at, tolerance])
  return result
}

interface Judged {
  readonly tolerance: string
  /** Unix seconds; null for now. */
  readonly now: number | null
  readonly judgeAt: (signedAt: number) => void
}

function Findings({ result, ...judged }: Judged & { readonly result: Result }) {
  if (result.state === 'waiting') {
    return (
      <Panel title="Result">
        <p className={css.none}>
          {result.lacksSignature &&
            'Each attempt is signed anew, and its signature is not stored: only your receiver has it. '}
          Enter a secret or public keys, and the headers. The tester checks each rule and names common
          mistakes: a body that was parsed and written again, an extra line break, the key of the other
          scheme.
        </p>
        <Verifying />
      </Panel>
    )
  }
  return result.examinations.map((one) => <OneScheme key={one.scheme} examination={one} {...judged} />)
}

const titles = {
  service: 'X-Service-Signature',
  standard: 'Standard Webhooks',
  v1a: 'Standard Webhooks, asymmetric',
} as const
const names: Readonly<Record<ReceivingRule, string>> = {
  header: 'Headers',
  form: 'Format',
  time: 'Time',
  signature: 'Signature',
}

/** The time and the signature each say what they are: a delivery that is too old may have any key. */
function whyRefused(
  { scheme, reason, detail, rules, signedAt }: Examination,
  tolerance: string,
  now: number,
) {
  const fits = rules.find(({ rule }) => rule === 'signature')?.holds
  if (fits === null || fits === undefined || signedAt === null) return detail
  const age = now - signedAt
  const time =
    reason === 'signature_mismatch'
      ? ''
      : age > 0
        ? `It was signed ${sayDuration(age)} ago: a receiver refuses it after ${tolerance} s.`
        : `Its time is ${sayDuration(-age)} in the future: a receiver refuses more than ${tolerance} s.`
  const [key, keys] = scheme === 'v1a' ? ['these public keys', 'keys are'] : ['this secret', 'secret is']
  const signature = fits
    ? `The signature fits ${key}.`
    : `No signature fits. Check that the ${keys} this endpoint’s, and that the body is the raw bytes.`
  return `${signature} ${time}`.trim()
}

function OneScheme({ examination, tolerance, now, judgeAt }: Judged & { readonly examination: Examination }) {
  const { scheme, verified, reason, cause, rules, signedAt } = examination
  const isOfOtherTime = reason === 'timestamp_expired' || reason === 'timestamp_in_future'
  const fits = rules.some(({ rule, holds }) => rule === 'signature' && holds)
  const verdict =
    !fits || !isOfOtherTime ? 'Invalid' : reason === 'timestamp_expired' ? 'Too old' : 'Too early'
  return (
    <Panel
      title={titles[scheme]}
      actions={<Status tone={verified ? 'good' : 'bad'}>{verified ? 'Verified' : verdict}</Status>}
    >
      <ol className={css.rules}>
        {rules.map(({ rule, says, holds, seen }) => (
          <li key={rule} data-holds={holds ?? 'unknown'}>
            <Sign tone={holds === null ? 'quiet' : holds ? 'good' : 'bad'} />
            <div>
              <p>
                <strong>{names[rule]}</strong>{' '}
                <span>{holds === null ? 'not checked' : holds ? 'passed' : 'failed'}</span>
              </p>
              <p className={css.says}>
                {says}
                {seen !== '' && <em>{seen}</em>}
              </p>
            </div>
          </li>
        ))}
      </ol>
      <div role="status">
        {!verified && (
          <div className={css.why}>
            <p>{whyRefused(examination, tolerance, now ?? Math.floor(Date.now() / 1000))}</p>
            {cause !== null && (
              <p>
                <strong>Likely:</strong> {cause}
              </p>
            )}
            {isOfOtherTime && signedAt !== null && (
              <div>
                <Button size="s" onClick={() => judgeAt(signedAt)}>
                  Use the time of the delivery
                </Button>
              </div>
            )}
          </div>
        )}
      </div>
    </Panel>
  )
}

/** What a receiver contains, for comparison. */
function Verifying() {
  return (
    <Code
      label="A receiver in TypeScript"
      text={`import { verify } from '@deskwire/sdk'

// The raw body: before any parser has seen it. Throws SignatureError: respond with 400.
handle(await verify(rawBody, request.headers, secret))`}
    />
  )
}
