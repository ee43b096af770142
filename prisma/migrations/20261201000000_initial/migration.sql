-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "session_status" AS ENUM ('waiting', 'running', 'needs_input', 'failed', 'archived');

-- CreateEnum
CREATE TYPE "runtime" AS ENUM ('claude_code', 'codex', 'other');

-- CreateEnum
CREATE TYPE "lost_reason" AS ENUM ('expired', 'stranded');

-- CreateEnum
CREATE TYPE "elicitation_status" AS ENUM ('pending', 'accept', 'decline', 'cancel', 'expired');

-- CreateEnum
CREATE TYPE "cause" AS ENUM ('answered', 'dismissed', 'expired', 'session_ended', 'withdrawn');

-- CreateEnum
CREATE TYPE "mode" AS ENUM ('form', 'url');

-- CreateEnum
CREATE TYPE "role" AS ENUM ('viewer', 'responder', 'launcher', 'operator', 'admin');

-- CreateEnum
CREATE TYPE "attention" AS ENUM ('entered', 'left', 'updated');

-- CreateTable
CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "status" "session_status" NOT NULL,
    "runtime" "runtime" NOT NULL DEFAULT 'other',
    "working_directory" TEXT,
    "metadata" JSON NOT NULL DEFAULT '{}',
    "blocked_on_elicitation" BOOLEAN NOT NULL DEFAULT false,
    "archived_from" "session_status",
    "lost_reason" "lost_reason",
    "lost_at" TIMESTAMPTZ(3),
    "lost_request_id" TEXT,
    "lost_summary" TEXT,
    "needs_input_since" TIMESTAMPTZ(3),
    "failure_reason" TEXT,
    "process_host" TEXT,
    "process_pid" INTEGER,
    "process_command" TEXT,
    "process_started_at" TIMESTAMPTZ(3),
    "process_last_seen_at" TIMESTAMPTZ(3),
    "process_ended_at" TIMESTAMPTZ(3),
    "process_exit_code" INTEGER,
    "process_signal" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "elicitation" (
    "id" UUID NOT NULL,
    "request_id" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "status" "elicitation_status" NOT NULL DEFAULT 'pending',
    "cause" "cause",
    "mode" "mode" NOT NULL DEFAULT 'form',
    "message" TEXT NOT NULL,
    "requested_schema" JSON NOT NULL DEFAULT '{}',
    "meta" JSON NOT NULL DEFAULT '{}',
    "tool_name" TEXT,
    "context" TEXT,
    "url" TEXT,
    "elicitation_id" TEXT,
    "server_name" TEXT,
    "gate_token_id" UUID,
    "caller_address" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "content" JSON,
    "note" TEXT,
    "responded_at" TIMESTAMPTZ(3),
    "responded_by_name" TEXT,
    "responded_by_surface" TEXT,
    "responded_by_actor" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_polled_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "elicitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "cursor" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "session_id" UUID,
    "elicitation_id" UUID,
    "actor_kind" TEXT NOT NULL,
    "actor_name" TEXT,
    "actor_role" "role",
    "data" JSON NOT NULL DEFAULT '{}',
    "attention" "attention",
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("cursor")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "prefix" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "role" "role" NOT NULL,
    "session_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sign_in" (
    "token_hash" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "api_key_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "gate_token" (
    "id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "session_id" UUID NOT NULL,
    "server_name" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "gate_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "secret" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "secret_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "session_slug_key" ON "session"("slug");

-- CreateIndex
CREATE INDEX "session_status_id_idx" ON "session"("status", "id");

-- CreateIndex
CREATE INDEX "session_needs_input" ON "session"("needs_input_since") WHERE (status = 'needs_input');

-- CreateIndex
CREATE INDEX "session_blocked" ON "session"("id") WHERE (blocked_on_elicitation);

-- CreateIndex
CREATE UNIQUE INDEX "elicitation_request_id_key" ON "elicitation"("request_id");

-- CreateIndex
CREATE INDEX "elicitation_due" ON "elicitation"("expires_at") WHERE (status = 'pending');

-- CreateIndex
CREATE INDEX "elicitation_pending" ON "elicitation"("session_id") WHERE (status = 'pending');

-- CreateIndex
CREATE INDEX "elicitation_session_id_id_idx" ON "elicitation"("session_id", "id");

-- CreateIndex
CREATE INDEX "elicitation_status_id_idx" ON "elicitation"("status", "id");

-- CreateIndex
CREATE INDEX "event_session_id_cursor_idx" ON "event"("session_id", "cursor");

-- CreateIndex
CREATE INDEX "event_elicitation_id_idx" ON "event"("elicitation_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_prefix_key" ON "api_key"("prefix");

-- CreateIndex
CREATE UNIQUE INDEX "gate_token_token_hash_key" ON "gate_token"("token_hash");

-- CreateIndex
CREATE INDEX "gate_token_session_id_idx" ON "gate_token"("session_id");

-- AddForeignKey
ALTER TABLE "elicitation" ADD CONSTRAINT "elicitation_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "elicitation" ADD CONSTRAINT "elicitation_gate_token_id_fkey" FOREIGN KEY ("gate_token_id") REFERENCES "gate_token"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_elicitation_id_fkey" FOREIGN KEY ("elicitation_id") REFERENCES "elicitation"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sign_in" ADD CONSTRAINT "sign_in_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "gate_token" ADD CONSTRAINT "gate_token_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "session"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
