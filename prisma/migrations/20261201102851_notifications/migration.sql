-- CreateEnum
CREATE TYPE "notification_state" AS ENUM ('waiting', 'sent', 'dropped', 'dead');

-- CreateTable
CREATE TABLE "timeline_reader" (
    "name" TEXT NOT NULL,
    "cursor" BIGINT NOT NULL,

    CONSTRAINT "timeline_reader_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "notification" (
    "id" UUID NOT NULL,
    "event_cursor" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "target" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "session_id" UUID,
    "elicitation_id" UUID,
    "state" "notification_state" NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "in_flight_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "notification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "push_subscription" (
    "id" UUID NOT NULL,
    "endpoint" TEXT NOT NULL,
    "p256dh" TEXT NOT NULL,
    "auth" TEXT NOT NULL,
    "owner" TEXT NOT NULL,
    "api_key_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "push_subscription_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "notification_subject_idx" ON "notification"("subject");

-- CreateIndex
CREATE INDEX "notification_state_id_idx" ON "notification"("state", "id");

-- CreateIndex
CREATE INDEX "notification_due" ON "notification"("due_at") WHERE (state = 'waiting');

-- CreateIndex
CREATE UNIQUE INDEX "notification_event_cursor_target_key" ON "notification"("event_cursor", "target");

-- CreateIndex
CREATE UNIQUE INDEX "push_subscription_endpoint_key" ON "push_subscription"("endpoint");

-- CreateIndex
CREATE INDEX "push_subscription_owner_idx" ON "push_subscription"("owner");

-- CreateIndex
CREATE INDEX "push_subscription_api_key_id_idx" ON "push_subscription"("api_key_id");

-- AddForeignKey
ALTER TABLE "push_subscription" ADD CONSTRAINT "push_subscription_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE SET NULL ON UPDATE CASCADE;
