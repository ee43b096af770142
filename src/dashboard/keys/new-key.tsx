import { Alert, Button, NativeSelect, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { useClient } from 'urql'
import { CreateKeyDocument, type Role } from '../generated/graphql.ts'
import { useSubmit } from '../server/submit.ts'
import classes from './keys.module.css'
import { MadeKey } from './made-key.tsx'
import { roleMeanings, roles } from './roles.ts'

export function NewKey() {
  const client = useClient()
  const { busy, failure, problems, submit } = useSubmit()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('RESPONDER')
  const [expires, setExpires] = useState('')
  const [made, setMade] = useState<{ name: string; secret: string } | null>(null)

  async function create() {
    const expiresAt = expires === '' ? null : new Date(`${expires}T23:59:59`).toISOString()
    const success = await submit(() =>
      client.mutation(CreateKeyDocument, { input: { name, role, expiresAt } }).toPromise(),
    )
    if (success?.__typename !== 'CreateApiKeySuccess') return
    setMade({ name: success.apiKey.name, secret: success.secret })
    setName('')
    setExpires('')
  }

  return (
    <section aria-labelledby="new-key">
      <Title order={2} id="new-key" mb={8}>
        New key
      </Title>
      <form
        noValidate
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <TextInput
          label="Name"
          description="Shown beside every answer."
          autoComplete="off"
          aria-required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problems.get('name')}
        />
        <NativeSelect
          label="Role"
          description={roleMeanings[role]}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as Role)}
          error={problems.get('role')}
        >
          {roles.map((each) => (
            <option key={each} value={each}>
              {each.toLowerCase()}
            </option>
          ))}
        </NativeSelect>
        <TextInput
          type="date"
          label="Last day (optional)"
          description="It stops working after this day."
          value={expires}
          onChange={(event) => setExpires(event.currentTarget.value)}
          error={problems.get('expiresAt')}
        />
        <Button type="submit" size="md" aria-disabled={busy || undefined}>
          {busy ? 'Creating…' : 'Create key'}
        </Button>
      </form>
      {failure && (
        <Alert color="red" variant="light" mt="sm" role="alert">
          {failure}
        </Alert>
      )}
      {made && <MadeKey name={made.name} secret={made.secret} onTaken={() => setMade(null)} />}
    </section>
  )
}
