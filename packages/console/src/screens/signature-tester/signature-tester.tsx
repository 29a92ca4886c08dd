/** Checks a delivery's signature and names the rule that it breaks. It runs in the browser, with the SDK's code. */
import type { Examination, ReceivingRule } from '@deskwire/sdk'
import { useEffect, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Code } from '../../design/code.tsx'
import { Field, TextArea, TextInput } from '../../design/field.tsx'
import { Notice } from '../../design/notice.tsx'
import { Page, Panel } from '../../design/page.tsx'
import { Sign, Status } from '../../design/status.tsx'
import { examined, type Result, secretsOf } from './examined.ts'
import { prefill, prefilled } from './prefilled.ts'
import { type Pasted, sampleBody, sampleSecret, signed } from './sample.ts'
import css from './signature-tester.module.css'

const nothing: Pasted = { headers: '', body: '', secrets: '', keys: '' }

export function SignatureTester() {
  const [pasted, setPasted] = useState(() => ({ ...nothing, ...prefilled() }))
  useEffect(() => prefill({}), [])
  const [at, setAt] = useState('')
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
              hint="One per line, as curl -v shows them, or a JSON object. Other headers are ignored."
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
          <Findings result={result} />
        </div>
      </div>
    </Page>
  )
}

const digits = (text: string) => text.replace(/\D/g, '').slice(0, 15)

/** With each change of the input, and every few seconds while the time is now, as a delivery grows old. */
function useExamined(pasted: Pasted, at: string, tolerance: string): Result {
  const [result, setResult] = useState<Result>({ state: 'waiting', faults: {} })
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

function Findings({ result }: { readonly result: Result }) {
  if (result.state === 'waiting') {
    return (
      <Panel title="Result">
        <p className={css.none}>
          Enter a secret or public keys, and the headers. The tester checks each rule and names common
          mistakes: a body that was parsed and written again, an extra line break, the key of the other
          scheme.
        </p>
        <Verifying />
      </Panel>
    )
  }
  return result.examinations.map((one) => <OneScheme key={one.scheme} examination={one} />)
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

function OneScheme({ examination }: { readonly examination: Examination }) {
  const { scheme, verified, detail, cause, rules } = examination
  return (
    <Panel
      title={titles[scheme]}
      actions={<Status tone={verified ? 'good' : 'bad'}>{verified ? 'Verified' : 'Invalid'}</Status>}
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
            <p>{detail}</p>
            {cause !== null && (
              <p>
                <strong>Likely:</strong> {cause}
              </p>
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
