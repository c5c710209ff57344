-- A state file of format 1, which knew a job of Slurm by its id alone: job 42 was interrupted and waits for its restart.
BEGIN TRANSACTION;
CREATE TABLE counters (
    name TEXT, labels TEXT, value REAL NOT NULL, PRIMARY KEY (name, labels)
) WITHOUT ROWID;
INSERT INTO "counters" VALUES('gpuscope_training_attempts_ended_total','["slurm", "", "nlp", "h100", "job", "interrupted"]',1.0);
INSERT INTO "counters" VALUES('gpuscope_training_faults_total','["slurm", "", "nlp", "NODE_FAIL", "infrastructure", "node"]',1.0);
INSERT INTO "counters" VALUES('gpuscope_training_interruptions_total','["slurm", "", "nlp", "infrastructure"]',1.0);
INSERT INTO "counters" VALUES('gpuscope_training_jobs_created_total','["kubernetes", "ml", "", "", "Job"]',1.0);
INSERT INTO "counters" VALUES('gpuscope_training_jobs_created_total','["slurm", "", "nlp", "h100", "job"]',1.0);
CREATE TABLE jobs (
    key TEXT PRIMARY KEY, record TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "jobs" VALUES('["kubernetes", "ml", "0c8a"]','{"key":["kubernetes","ml","0c8a"],"facts":{"name":"bert","kind":"Job","team":"","queue":"","user":"","gpus":null,"priority":""},"created":1796035000.0,"seen_at":1796035005.0,"state":"training","seconds":{"training":5.0},"closed":[],"opened":[],"restarts":0,"episodes":[],"outcome":null,"ended":null,"progress":null,"holds":true,"since":1796035000.0,"last_fault":"","still_since":null}');
INSERT INTO "jobs" VALUES('["slurm", "", "42"]','{"key":["slurm","","42"],"facts":{"name":"llama","kind":"job","team":"nlp","queue":"h100","user":"eve","gpus":16,"priority":""},"created":1796035110.0,"seen_at":1796035160.0,"state":"recovering","seconds":{"training":50.0,"recovering":0.0},"closed":[0],"opened":[],"restarts":0,"episodes":[{"attempt":{"number":0,"started":1796035112.0,"running":null,"ended":1796035157.0,"outcome":"interrupted","nodes":["n1"],"evidence":{"state":"NODE_FAIL","reason":"","exit_codes":[],"signals":[],"container_reasons":[],"pod_reasons":[],"xids":[],"nodes_lost":[],"maintenance":false,"requested_by_user":null,"log_signals":[],"node_signals":[],"nodes_watched":false,"nodes_shared":false,"gpu_jobs":0,"shared_by":0}},"verdict":{"fault_type":"NODE_FAIL","domain":"infrastructure","scope":"node","confidence":"high","why":"as told"},"final":true,"trigger":"","measured":{},"counted":[]}],"outcome":null,"ended":null,"progress":null,"holds":false,"since":1796035157.0,"last_fault":"NODE_FAIL","still_since":null}');
CREATE TABLE sources (
    name TEXT PRIMARY KEY, first_look REAL NOT NULL, last_look REAL NOT NULL
) WITHOUT ROWID;
INSERT INTO "sources" VALUES('kubernetes',1796034990.0,1796035005.0);
INSERT INTO "sources" VALUES('slurm',1796034990.0,1796035160.0);
PRAGMA user_version=1;
COMMIT;
