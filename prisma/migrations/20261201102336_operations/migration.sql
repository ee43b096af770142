-- AlterTable
ALTER TABLE "session" ADD COLUMN     "process_lost_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "elicitation" ADD COLUMN     "erased_at" TIMESTAMPTZ(3),
ADD COLUMN     "forgotten_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "gate_probe" (
    "url" TEXT NOT NULL,
    "reachable" BOOLEAN NOT NULL,
    "detail" TEXT NOT NULL,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "gate_probe_pkey" PRIMARY KEY ("url")
);

-- CreateTable
CREATE TABLE "gate_report" (
    "host" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "reachable" BOOLEAN NOT NULL,
    "detail" TEXT,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "gate_report_pkey" PRIMARY KEY ("host")
);

-- CreateTable
CREATE TABLE "gate_incident" (
    "id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "detail" TEXT NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "page_claimed_at" TIMESTAMPTZ(3),
    "paged_at" TIMESTAMPTZ(3),

    CONSTRAINT "gate_incident_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "gate_incident_url_opened_at_idx" ON "gate_incident"("url", "opened_at");

-- CreateIndex
CREATE UNIQUE INDEX "gate_incident_open" ON "gate_incident"("url") WHERE (closed_at is null);

-- CreateIndex
CREATE INDEX "session_process" ON "session"("id") WHERE (process_host is not null and process_ended_at is null);

-- CreateIndex
CREATE INDEX "elicitation_forgettable" ON "elicitation"("delivered_at") WHERE (content is not null);

-- CreateIndex
CREATE INDEX "elicitation_erasable" ON "elicitation"("responded_at") WHERE (status <> 'pending' and erased_at is null);
