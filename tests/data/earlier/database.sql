BEGIN TRANSACTION;
CREATE TABLE account (
	person_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	password_hash VARCHAR, 
	PRIMARY KEY (person_id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	UNIQUE (name)
);
INSERT INTO "account" VALUES(1,'person2',NULL);
INSERT INTO "account" VALUES(2,'person3',NULL);
INSERT INTO "account" VALUES(3,'person4',NULL);
INSERT INTO "account" VALUES(4,'person5',NULL);
CREATE TABLE adjudicated_label (
	adjudication_id INTEGER NOT NULL, 
	criterion VARCHAR NOT NULL, 
	target VARCHAR NOT NULL, 
	value JSON, 
	overrules BOOLEAN NOT NULL, 
	reason VARCHAR, 
	PRIMARY KEY (adjudication_id, criterion, target), 
	FOREIGN KEY(adjudication_id) REFERENCES adjudication (id)
);
INSERT INTO "adjudicated_label" VALUES(1,'right','item','"no"',1,NULL);
INSERT INTO "adjudicated_label" VALUES(2,'right','item','"no"',1,NULL);
CREATE TABLE adjudication (
	id INTEGER NOT NULL, 
	uid VARCHAR NOT NULL, 
	study_id INTEGER NOT NULL, 
	study_item_id INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	reason VARCHAR, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(study_item_id) REFERENCES study_item (id), 
	UNIQUE (uid)
);
INSERT INTO "adjudication" VALUES(1,'u1',1,1,1,1,'It says so.','2026-11-25 03:30:26.093802');
INSERT INTO "adjudication" VALUES(2,'u2',1,2,1,1,'It says so.','2026-11-25 03:30:26.137180');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0005');
CREATE TABLE annotation (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	study_item_id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	sitting INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	supersedes_id INTEGER, 
	run_id INTEGER, 
	batch_id INTEGER, 
	seconds FLOAT, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(run_id) REFERENCES run (id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(study_item_id) REFERENCES study_item (id), 
	FOREIGN KEY(supersedes_id) REFERENCES annotation (id), 
	UNIQUE (assignment_id, sitting)
);
INSERT INTO "annotation" VALUES(1,1,1,1,1,2,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.409264');
INSERT INTO "annotation" VALUES(2,1,2,2,1,2,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.429811');
INSERT INTO "annotation" VALUES(3,1,3,3,1,2,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.513932');
INSERT INTO "annotation" VALUES(4,1,4,4,1,2,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.566219');
INSERT INTO "annotation" VALUES(5,1,1,5,1,3,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.661804');
INSERT INTO "annotation" VALUES(6,1,2,6,1,3,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.735446');
INSERT INTO "annotation" VALUES(7,1,3,7,1,3,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.772857');
INSERT INTO "annotation" VALUES(8,1,4,8,1,3,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.811395');
INSERT INTO "annotation" VALUES(9,1,1,9,1,4,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.864969');
INSERT INTO "annotation" VALUES(10,1,2,10,1,4,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.904736');
INSERT INTO "annotation" VALUES(11,1,3,11,1,4,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.936973');
INSERT INTO "annotation" VALUES(12,1,4,12,1,4,'regular',NULL,NULL,NULL,2.0,'2026-11-25 03:30:25.973501');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	study_item_id INTEGER NOT NULL, 
	person_id INTEGER, 
	kind VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	queue BIGINT NOT NULL, 
	sitting INTEGER NOT NULL, 
	steps_done INTEGER NOT NULL, 
	leased_at DATETIME, 
	lease_until DATETIME, 
	ended_at DATETIME, 
	reason VARCHAR, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(study_item_id) REFERENCES study_item (id)
);
INSERT INTO "assignment" VALUES(1,1,1,2,'slot','submitted',0,1,1,'2026-11-25 03:30:25.380529','2026-11-25 04:30:25.373970','2026-11-25 03:30:25.409264',NULL);
INSERT INTO "assignment" VALUES(2,1,2,2,'slot','submitted',3,1,1,'2026-11-25 03:30:25.381744','2026-11-25 04:30:25.373970','2026-11-25 03:30:25.429811',NULL);
INSERT INTO "assignment" VALUES(3,1,3,2,'slot','submitted',6,1,1,'2026-11-25 03:30:25.381854','2026-11-25 04:30:25.373970','2026-11-25 03:30:25.513932',NULL);
INSERT INTO "assignment" VALUES(4,1,4,2,'slot','submitted',9,1,1,'2026-11-25 03:30:25.381936','2026-11-25 04:30:25.373970','2026-11-25 03:30:25.566219',NULL);
INSERT INTO "assignment" VALUES(5,1,1,3,'slot','submitted',1,1,1,'2026-11-25 03:30:25.643986','2026-11-25 04:30:25.643732','2026-11-25 03:30:25.661804',NULL);
INSERT INTO "assignment" VALUES(6,1,2,3,'slot','submitted',4,1,1,'2026-11-25 03:30:25.644131','2026-11-25 04:30:25.643732','2026-11-25 03:30:25.735446',NULL);
INSERT INTO "assignment" VALUES(7,1,3,3,'slot','submitted',7,1,1,'2026-11-25 03:30:25.644212','2026-11-25 04:30:25.643732','2026-11-25 03:30:25.772857',NULL);
INSERT INTO "assignment" VALUES(8,1,4,3,'slot','submitted',10,1,1,'2026-11-25 03:30:25.736128','2026-11-25 04:30:25.735912','2026-11-25 03:30:25.811395',NULL);
INSERT INTO "assignment" VALUES(9,1,1,4,'slot','submitted',2,1,1,'2026-11-25 03:30:25.834247','2026-11-25 04:30:25.834061','2026-11-25 03:30:25.864969',NULL);
INSERT INTO "assignment" VALUES(10,1,2,4,'slot','submitted',5,1,1,'2026-11-25 03:30:25.842557','2026-11-25 04:30:25.834061','2026-11-25 03:30:25.904736',NULL);
INSERT INTO "assignment" VALUES(11,1,3,4,'slot','submitted',8,1,1,'2026-11-25 03:30:25.905393','2026-11-25 04:30:25.905191','2026-11-25 03:30:25.936973',NULL);
INSERT INTO "assignment" VALUES(12,1,4,4,'slot','submitted',11,1,1,'2026-11-25 03:30:25.937578','2026-11-25 04:30:25.937386','2026-11-25 03:30:25.973501',NULL);
CREATE TABLE batch (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	format VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id)
);
CREATE TABLE claim (
	id INTEGER NOT NULL, 
	item_version_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	"of" VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	extra JSON NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	UNIQUE (item_version_id, "key")
);
CREATE TABLE document (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	sha256 VARCHAR, 
	media_type VARCHAR, 
	n_pages INTEGER, 
	page_sizes JSON, 
	extra JSON NOT NULL, 
	batch_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(project_id) REFERENCES project (id), 
	UNIQUE (project_id, "key")
);
INSERT INTO "document" VALUES(1,1,'i00001.pdf','',NULL,NULL,5,NULL,'{}',NULL,'2026-11-25 03:30:25.270825');
INSERT INTO "document" VALUES(2,1,'i00002.pdf','',NULL,NULL,5,NULL,'{}',NULL,'2026-11-25 03:30:25.303157');
INSERT INTO "document" VALUES(3,1,'i00003.pdf','',NULL,NULL,5,NULL,'{}',NULL,'2026-11-25 03:30:25.315621');
INSERT INTO "document" VALUES(4,1,'i00004.pdf','',NULL,NULL,5,NULL,'{}',NULL,'2026-11-25 03:30:25.319969');
CREATE TABLE draft (
	assignment_id INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	content JSON NOT NULL, 
	seconds FLOAT NOT NULL, 
	saved_at DATETIME NOT NULL, 
	PRIMARY KEY (assignment_id, step), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id)
);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	person_id INTEGER, 
	via VARCHAR NOT NULL, 
	project_id INTEGER, 
	kind VARCHAR NOT NULL, 
	thing VARCHAR NOT NULL, 
	thing_id INTEGER, 
	details JSON NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id)
);
INSERT INTO "event" VALUES(1,'2026-11-25 03:30:25.364050',1,'web',1,'study created','study',1,'{"name":"study","protocol":"tiny","items":4,"overlap":3}');
INSERT INTO "event" VALUES(2,'2026-11-25 03:30:26.112576',1,'web',1,'item adjudicated','study item',1,'{"round":1,"overruled":1}');
INSERT INTO "event" VALUES(3,'2026-11-25 03:30:26.137587',1,'web',1,'item adjudicated','study item',2,'{"round":1,"overruled":1}');
INSERT INTO "event" VALUES(4,'2026-11-25 03:30:26.340864',1,'web',1,'exported','study',1,'{"formats":["native","labels","adjudicated"],"names":true,"event":3,"manifest_sha256":"3f31e4f6f05fe087edc0e1a2c2bb5f2824922b8821b6b261bf6f87cfd865d3a8"}');
CREATE TABLE evidence (
	id INTEGER NOT NULL, 
	item_version_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	role VARCHAR, 
	document_id INTEGER, 
	pages JSON NOT NULL, 
	box JSON, 
	text VARCHAR, 
	used BOOLEAN, 
	hop INTEGER, 
	rank INTEGER, 
	extra JSON NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	UNIQUE (item_version_id, "key")
);
INSERT INTO "evidence" VALUES(1,1,'gold-1',0,'passage','gold',1,'[2]',NULL,'Passage 1',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(2,1,'distractor-2',1,'passage','distractor',1,'[1]',NULL,'Passage 2',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(3,2,'gold-1',0,'passage','gold',2,'[2]',NULL,'Passage 1',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(4,2,'distractor-2',1,'passage','distractor',2,'[1]',NULL,'Passage 2',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(5,3,'gold-1',0,'passage','gold',3,'[2]',NULL,'Passage 1',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(6,3,'distractor-2',1,'passage','distractor',3,'[1]',NULL,'Passage 2',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(7,4,'gold-1',0,'passage','gold',4,'[2]',NULL,'Passage 1',NULL,NULL,NULL,'{}');
INSERT INTO "evidence" VALUES(8,4,'distractor-2',1,'passage','distractor',4,'[1]',NULL,'Passage 2',NULL,NULL,NULL,'{}');
CREATE TABLE image (
	id INTEGER NOT NULL, 
	item_version_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	document_id INTEGER, 
	page INTEGER NOT NULL, 
	box JSON, 
	caption VARCHAR NOT NULL, 
	extra JSON NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	UNIQUE (item_version_id, "key")
);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	external_id VARCHAR NOT NULL, 
	question_id INTEGER NOT NULL, 
	system VARCHAR NOT NULL, 
	batch_id INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(project_id) REFERENCES project (id), 
	FOREIGN KEY(question_id) REFERENCES question (id), 
	UNIQUE (project_id, external_id)
);
INSERT INTO "item" VALUES(1,1,'i00001',1,'s0',NULL);
INSERT INTO "item" VALUES(2,1,'i00002',2,'s1',NULL);
INSERT INTO "item" VALUES(3,1,'i00003',3,'s0',NULL);
INSERT INTO "item" VALUES(4,1,'i00004',4,'s1',NULL);
CREATE TABLE item_document (
	item_version_id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	PRIMARY KEY (item_version_id, document_id), 
	FOREIGN KEY(document_id) REFERENCES document (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id)
);
INSERT INTO "item_document" VALUES(1,1);
INSERT INTO "item_document" VALUES(2,2);
INSERT INTO "item_document" VALUES(3,3);
INSERT INTO "item_document" VALUES(4,4);
CREATE TABLE item_version (
	id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	question VARCHAR NOT NULL, 
	answer VARCHAR NOT NULL, 
	category VARCHAR, 
	language VARCHAR, 
	"references" JSON NOT NULL, 
	hops JSON NOT NULL, 
	extra JSON NOT NULL, 
	content_hash VARCHAR NOT NULL, 
	batch_id INTEGER, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(item_id) REFERENCES item (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	UNIQUE (item_id, number)
);
INSERT INTO "item_version" VALUES(1,1,1,'Question of i00001?','Answer of i00001.',NULL,NULL,'[]','[]','{}','hash of i00001',NULL,NULL,'2026-11-25 03:30:25.265486');
INSERT INTO "item_version" VALUES(2,2,1,'Question of i00002?','Answer of i00002.',NULL,NULL,'[]','[]','{}','hash of i00002',NULL,NULL,'2026-11-25 03:30:25.297834');
INSERT INTO "item_version" VALUES(3,3,1,'Question of i00003?','Answer of i00003.',NULL,NULL,'[]','[]','{}','hash of i00003',NULL,NULL,'2026-11-25 03:30:25.315144');
INSERT INTO "item_version" VALUES(4,4,1,'Question of i00004?','Answer of i00004.',NULL,NULL,'[]','[]','{}','hash of i00004',NULL,NULL,'2026-11-25 03:30:25.319620');
CREATE TABLE "job" (
	id INTEGER NOT NULL, 
	project_id INTEGER, 
	kind VARCHAR NOT NULL, 
	parameters JSON NOT NULL, 
	state VARCHAR NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER, 
	message VARCHAR, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	ended_at DATETIME, 
	worker VARCHAR, 
	heartbeat_at DATETIME, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	cancel_requested BOOLEAN DEFAULT 0 NOT NULL, 
	rate FLOAT, 
	run_id INTEGER, 
	result JSON, 
	PRIMARY KEY (id), 
	CONSTRAINT fk_job_run_id_run FOREIGN KEY(run_id) REFERENCES run (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id)
);
CREATE TABLE label (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	sitting INTEGER NOT NULL, 
	criterion VARCHAR NOT NULL, 
	target VARCHAR NOT NULL, 
	value JSON, 
	cannot_judge BOOLEAN NOT NULL, 
	reason VARCHAR, 
	comment VARCHAR, 
	rationale JSON, 
	PRIMARY KEY (id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(submission_id) REFERENCES submission (id), 
	UNIQUE (assignment_id, sitting, criterion, target)
);
INSERT INTO "label" VALUES(1,1,1,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(2,2,2,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(3,3,3,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(4,4,4,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(5,5,5,1,'right','item','"no"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(6,6,6,1,'right','item','"no"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(7,7,7,1,'right','item','"no"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(8,8,8,1,'right','item','"no"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(9,9,9,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(10,10,10,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(11,11,11,1,'right','item','"yes"',0,NULL,NULL,NULL);
INSERT INTO "label" VALUES(12,12,12,1,'right','item','"yes"',0,NULL,NULL,NULL);
CREATE TABLE membership (
	project_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	role VARCHAR NOT NULL, 
	PRIMARY KEY (project_id, person_id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id)
);
INSERT INTO "membership" VALUES(1,1,'researcher');
INSERT INTO "membership" VALUES(1,2,'annotator');
INSERT INTO "membership" VALUES(1,3,'annotator');
INSERT INTO "membership" VALUES(1,4,'annotator');
CREATE TABLE person (
	id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	is_admin BOOLEAN NOT NULL, 
	default_role VARCHAR, 
	created_at DATETIME NOT NULL, 
	erased_at DATETIME, 
	PRIMARY KEY (id)
);
INSERT INTO "person" VALUES(1,'human',0,NULL,'2026-11-25 03:30:25.179170',NULL);
INSERT INTO "person" VALUES(2,'human',0,NULL,'2026-11-25 03:30:25.202737',NULL);
INSERT INTO "person" VALUES(3,'human',0,NULL,'2026-11-25 03:30:25.213822',NULL);
INSERT INTO "person" VALUES(4,'human',0,NULL,'2026-11-25 03:30:25.218482',NULL);
CREATE TABLE preference (
	person_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	updated_at DATETIME NOT NULL, 
	PRIMARY KEY (person_id, name), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE TABLE project (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(created_by) REFERENCES person (id), 
	UNIQUE (name)
);
INSERT INTO "project" VALUES(1,'project1',NULL,'2026-11-25 03:30:25.136741');
CREATE TABLE question (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(project_id) REFERENCES project (id), 
	UNIQUE (project_id, "key")
);
INSERT INTO "question" VALUES(1,1,'q-i00001');
INSERT INTO "question" VALUES(2,1,'q-i00002');
INSERT INTO "question" VALUES(3,1,'q-i00003');
INSERT INTO "question" VALUES(4,1,'q-i00004');
CREATE TABLE revision (
	id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	from_version_id INTEGER NOT NULL, 
	to_version_id INTEGER NOT NULL, 
	study_id INTEGER, 
	invalidates JSON NOT NULL, 
	reason VARCHAR NOT NULL, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(from_version_id) REFERENCES item_version (id), 
	FOREIGN KEY(item_id) REFERENCES item (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(to_version_id) REFERENCES item_version (id)
);
CREATE TABLE run (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	parameters JSON NOT NULL, 
	parameters_hash VARCHAR NOT NULL, 
	person_id INTEGER, 
	batch_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id)
);
CREATE TABLE score (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	item_version_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	target VARCHAR NOT NULL, 
	value FLOAT, 
	reason VARCHAR, 
	details JSON, 
	PRIMARY KEY (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	FOREIGN KEY(run_id) REFERENCES run (id), 
	UNIQUE (run_id, item_version_id, name, target)
);
CREATE TABLE settlement (
	study_item_id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	n_annotations INTEGER NOT NULL, 
	n_disputed INTEGER NOT NULL, 
	dispute FLOAT NOT NULL, 
	PRIMARY KEY (study_item_id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	FOREIGN KEY(study_item_id) REFERENCES study_item (id)
);
INSERT INTO "settlement" VALUES(1,1,'adjudicated',3,1,3.3333333333333337034e-01);
INSERT INTO "settlement" VALUES(2,1,'adjudicated',3,1,3.3333333333333337034e-01);
INSERT INTO "settlement" VALUES(3,1,'disputed',3,1,3.3333333333333337034e-01);
INSERT INTO "settlement" VALUES(4,1,'disputed',3,1,3.3333333333333337034e-01);
CREATE TABLE sign_in_failure (
	"key" VARCHAR NOT NULL, 
	count INTEGER NOT NULL, 
	last_at DATETIME NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	protocol_name VARCHAR NOT NULL, 
	protocol_version INTEGER NOT NULL, 
	protocol JSON NOT NULL, 
	protocol_hash VARCHAR NOT NULL, 
	sample_hash VARCHAR NOT NULL, 
	overlap INTEGER NOT NULL, 
	item_order VARCHAR NOT NULL, 
	seed INTEGER NOT NULL, 
	rule VARCHAR NOT NULL, 
	lease_minutes INTEGER NOT NULL, 
	show_scores JSON NOT NULL, 
	settings JSON NOT NULL, 
	n_items INTEGER NOT NULL, 
	evidence_step INTEGER, 
	documents_step INTEGER, 
	images_step INTEGER, 
	next_queue BIGINT NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(created_by) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id), 
	UNIQUE (project_id, name)
);
INSERT INTO "study" VALUES(1,1,'study','tiny',1,'{"name":"tiny","version":1,"title":"Tiny","summary":"","guidelines":"Say whether the answer is right.","criteria":[{"kind":"choice","name":"right","title":"Right","help":"","target":"item","required":true,"per_hop":false,"when":null,"accept":[],"tolerance":0.0,"labels":[{"value":"yes","title":"","key":"","definition":""},{"value":"no","title":"","key":"","definition":""}]}],"steps":[{"name":"all","title":"All","shows":["question","answer"],"criteria":["right"]}],"overlap":3,"agreement":"","on_fail":"","invalidates":{},"about_scores":false,"source":""}','72d81e52c2eba174fba06b3ddfdcc2a90291ef80563aa554cbf2537c2724745f','0274f872b354f06235eca0aa059b28fb604d991a88cc3f785cec2a59472420d9',3,'given',0,'unanimous',60,'[]','{"sample":null,"per":null}',4,NULL,NULL,NULL,12,1,'2026-11-25 03:30:25.356532');
CREATE TABLE study_item (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	item_version_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	FOREIGN KEY(study_id) REFERENCES study (id), 
	UNIQUE (study_id, item_version_id), 
	UNIQUE (study_id, position)
);
INSERT INTO "study_item" VALUES(1,1,1,0);
INSERT INTO "study_item" VALUES(2,1,2,1);
INSERT INTO "study_item" VALUES(3,1,3,2);
INSERT INTO "study_item" VALUES(4,1,4,3);
CREATE TABLE study_member (
	study_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	cursor BIGINT NOT NULL, 
	exhausted_at BIGINT, 
	PRIMARY KEY (study_id, person_id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(study_id) REFERENCES study (id)
);
INSERT INTO "study_member" VALUES(1,2,9,12);
INSERT INTO "study_member" VALUES(1,3,10,12);
INSERT INTO "study_member" VALUES(1,4,11,12);
CREATE TABLE study_score (
	study_item_id INTEGER NOT NULL, 
	score_id INTEGER NOT NULL, 
	PRIMARY KEY (study_item_id, score_id), 
	FOREIGN KEY(score_id) REFERENCES score (id), 
	FOREIGN KEY(study_item_id) REFERENCES study_item (id)
);
CREATE TABLE submission (
	id INTEGER NOT NULL, 
	uid VARCHAR NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	sitting INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	shown JSON NOT NULL, 
	comment VARCHAR, 
	flag VARCHAR, 
	seconds FLOAT, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	UNIQUE (assignment_id, sitting, step), 
	UNIQUE (uid)
);
INSERT INTO "submission" VALUES(1,'a5af0eea44e74bec90a8e356b4cacc57',1,1,0,2,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.401849');
INSERT INTO "submission" VALUES(2,'77a862cf82794ba0aed063da14f1a07e',2,1,0,2,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.422207');
INSERT INTO "submission" VALUES(3,'b0f9c9b506564f8c9102a2fb28b74c94',3,1,0,2,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.513688');
INSERT INTO "submission" VALUES(4,'19746c88c2664eae91984d61edfd2881',4,1,0,2,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.565970');
INSERT INTO "submission" VALUES(5,'8b3ac93b08db41749e5e2fcc938f0eb3',5,1,0,3,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.661553');
INSERT INTO "submission" VALUES(6,'0d9f39d2e93347d0a30f16347b0f0960',6,1,0,3,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.735122');
INSERT INTO "submission" VALUES(7,'8a5380e414464a4196e1e61d8ee15e58',7,1,0,3,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.772578');
INSERT INTO "submission" VALUES(8,'4a0e9ef87e68463fb7e40e91e7a361c6',8,1,0,3,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.811118');
INSERT INTO "submission" VALUES(9,'53564eaf17db435787f61cec47d5b348',9,1,0,4,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.864704');
INSERT INTO "submission" VALUES(10,'2a4d11b5e0924ed19923f37b6d3a18ec',10,1,0,4,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.904427');
INSERT INTO "submission" VALUES(11,'88b19fdb405c4429a58becbceb51ca51',11,1,0,4,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.936718');
INSERT INTO "submission" VALUES(12,'3c87d0087da44e44aa6761be61b3c6b9',12,1,0,4,'["answer","question"]',NULL,NULL,2.0,'2026-11-25 03:30:25.973243');
CREATE TABLE tally (
	study_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	n INTEGER NOT NULL, 
	seconds FLOAT NOT NULL, 
	PRIMARY KEY (study_id, person_id, state), 
	FOREIGN KEY(study_id) REFERENCES study (id)
);
INSERT INTO "tally" VALUES(1,0,'open',0,0.0);
INSERT INTO "tally" VALUES(1,0,'leased',0,0.0);
INSERT INTO "tally" VALUES(1,2,'leased',0,0.0);
INSERT INTO "tally" VALUES(1,0,'submitted',12,24.0);
INSERT INTO "tally" VALUES(1,2,'submitted',4,8.0);
INSERT INTO "tally" VALUES(1,3,'leased',0,0.0);
INSERT INTO "tally" VALUES(1,3,'submitted',4,8.0);
INSERT INTO "tally" VALUES(1,4,'leased',0,0.0);
INSERT INTO "tally" VALUES(1,4,'submitted',4,8.0);
CREATE TABLE training_example (
	training_set_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	text VARCHAR NOT NULL, 
	label VARCHAR NOT NULL, 
	origin VARCHAR NOT NULL, 
	item_version_id INTEGER, 
	PRIMARY KEY (training_set_id, position), 
	FOREIGN KEY(item_version_id) REFERENCES item_version (id), 
	FOREIGN KEY(training_set_id) REFERENCES training_set (id)
);
CREATE TABLE training_set (
	id INTEGER NOT NULL, 
	project_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	content_hash VARCHAR NOT NULL, 
	report JSON NOT NULL, 
	reason VARCHAR NOT NULL, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id), 
	FOREIGN KEY(project_id) REFERENCES project (id), 
	UNIQUE (project_id, name, number)
);
CREATE TABLE unpublished_batch (
	batch_id INTEGER NOT NULL, 
	cleared_at DATETIME, 
	PRIMARY KEY (batch_id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id)
);
CREATE TABLE web_session (
	token_hash VARCHAR NOT NULL, 
	person_id INTEGER NOT NULL, 
	one_time BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	revoked_at DATETIME, 
	PRIMARY KEY (token_hash), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE TABLE withdrawal (
	id INTEGER NOT NULL, 
	batch_id INTEGER NOT NULL, 
	reinstates BOOLEAN NOT NULL, 
	reason VARCHAR NOT NULL, 
	person_id INTEGER, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(batch_id) REFERENCES batch (id), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE INDEX ix_web_session_person_id ON web_session (person_id);
CREATE INDEX ix_batch_project_id ON batch (project_id);
CREATE INDEX ix_event_project ON event (project_id, id);
CREATE INDEX ix_document_sha256 ON document (sha256);
CREATE INDEX ix_item_question_id ON item (question_id);
CREATE INDEX ix_run_project_id ON run (project_id);
CREATE INDEX ix_withdrawal_batch_id ON withdrawal (batch_id);
CREATE INDEX ix_evidence_document ON evidence (document_id);
CREATE INDEX ix_item_document_document ON item_document (document_id);
CREATE INDEX ix_revision_item_id ON revision (item_id);
CREATE INDEX ix_score_item_version ON score (item_version_id);
CREATE INDEX ix_study_item_item_version_id ON study_item (item_version_id);
CREATE INDEX ix_adjudication_item ON adjudication (study_item_id, round);
CREATE INDEX ix_adjudication_study_id ON adjudication (study_id);
CREATE INDEX ix_assignment_item ON assignment (study_item_id, person_id);
CREATE INDEX ix_assignment_person ON assignment (person_id, state, study_id);
CREATE INDEX ix_assignment_queue ON assignment (study_id, state, queue);
CREATE UNIQUE INDEX ux_assignment_live ON assignment (study_item_id, person_id) WHERE kind = 'slot' AND state IN ('leased', 'submitted', 'returned');
CREATE INDEX ix_settlement_queue ON settlement (study_id, state, dispute);
CREATE INDEX ix_annotation_person ON annotation (study_id, person_id);
CREATE INDEX ix_annotation_study ON annotation (study_id, study_item_id);
CREATE INDEX ix_annotation_supersedes ON annotation (supersedes_id);
CREATE INDEX ix_submission_person ON submission (person_id, created_at);
CREATE INDEX ix_label_submission_id ON label (submission_id);
CREATE INDEX ix_job_project_id ON job (project_id);
CREATE INDEX ix_job_state ON job (state, id);
CREATE INDEX ix_event_thing ON event (thing, thing_id, kind);
CREATE INDEX ix_image_document ON image (document_id);
CREATE TRIGGER keep_batch_update BEFORE UPDATE ON batch BEGIN SELECT RAISE(ABORT, 'batch is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_batch_delete BEFORE DELETE ON batch BEGIN SELECT RAISE(ABORT, 'batch is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_batch_replace BEFORE INSERT ON batch WHEN EXISTS (SELECT 1 FROM batch WHERE "id" = NEW."id") BEGIN SELECT RAISE(ABORT, 'batch is append-only: this row is already there'); END;
CREATE TRIGGER keep_withdrawal_update BEFORE UPDATE ON withdrawal BEGIN SELECT RAISE(ABORT, 'withdrawal is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_withdrawal_delete BEFORE DELETE ON withdrawal BEGIN SELECT RAISE(ABORT, 'withdrawal is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_withdrawal_replace BEFORE INSERT ON withdrawal WHEN EXISTS (SELECT 1 FROM withdrawal WHERE "id" = NEW."id") BEGIN SELECT RAISE(ABORT, 'withdrawal is append-only: this row is already there'); END;
CREATE TRIGGER keep_item_version_update BEFORE UPDATE ON item_version BEGIN SELECT RAISE(ABORT, 'item_version is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_item_version_delete BEFORE DELETE ON item_version WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = OLD.batch_id) BEGIN SELECT RAISE(ABORT, 'item_version is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_item_version_replace BEFORE INSERT ON item_version WHEN EXISTS (SELECT 1 FROM item_version WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM item_version WHERE "item_id" = NEW."item_id" AND "number" = NEW."number") BEGIN SELECT RAISE(ABORT, 'item_version is append-only: this row is already there'); END;
CREATE TRIGGER keep_item_document_update BEFORE UPDATE ON item_document BEGIN SELECT RAISE(ABORT, 'item_document is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_item_document_delete BEFORE DELETE ON item_document WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = (SELECT v.batch_id FROM item_version v WHERE v.id = OLD.item_version_id)) BEGIN SELECT RAISE(ABORT, 'item_document is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_item_document_replace BEFORE INSERT ON item_document WHEN EXISTS (SELECT 1 FROM item_document WHERE "item_version_id" = NEW."item_version_id" AND "document_id" = NEW."document_id") BEGIN SELECT RAISE(ABORT, 'item_document is append-only: this row is already there'); END;
CREATE TRIGGER keep_evidence_update BEFORE UPDATE ON evidence BEGIN SELECT RAISE(ABORT, 'evidence is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_evidence_delete BEFORE DELETE ON evidence WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = (SELECT v.batch_id FROM item_version v WHERE v.id = OLD.item_version_id)) BEGIN SELECT RAISE(ABORT, 'evidence is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_evidence_replace BEFORE INSERT ON evidence WHEN EXISTS (SELECT 1 FROM evidence WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM evidence WHERE "item_version_id" = NEW."item_version_id" AND "key" = NEW."key") BEGIN SELECT RAISE(ABORT, 'evidence is append-only: this row is already there'); END;
CREATE TRIGGER keep_claim_update BEFORE UPDATE ON claim BEGIN SELECT RAISE(ABORT, 'claim is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_claim_delete BEFORE DELETE ON claim WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = (SELECT v.batch_id FROM item_version v WHERE v.id = OLD.item_version_id)) BEGIN SELECT RAISE(ABORT, 'claim is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_claim_replace BEFORE INSERT ON claim WHEN EXISTS (SELECT 1 FROM claim WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM claim WHERE "item_version_id" = NEW."item_version_id" AND "key" = NEW."key") BEGIN SELECT RAISE(ABORT, 'claim is append-only: this row is already there'); END;
CREATE TRIGGER keep_image_update BEFORE UPDATE ON image BEGIN SELECT RAISE(ABORT, 'image is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_image_delete BEFORE DELETE ON image WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = (SELECT v.batch_id FROM item_version v WHERE v.id = OLD.item_version_id)) BEGIN SELECT RAISE(ABORT, 'image is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_image_replace BEFORE INSERT ON image WHEN EXISTS (SELECT 1 FROM image WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM image WHERE "item_version_id" = NEW."item_version_id" AND "key" = NEW."key") BEGIN SELECT RAISE(ABORT, 'image is append-only: this row is already there'); END;
CREATE TRIGGER keep_revision_update BEFORE UPDATE ON revision BEGIN SELECT RAISE(ABORT, 'revision is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_revision_delete BEFORE DELETE ON revision BEGIN SELECT RAISE(ABORT, 'revision is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_revision_replace BEFORE INSERT ON revision WHEN EXISTS (SELECT 1 FROM revision WHERE "id" = NEW."id") BEGIN SELECT RAISE(ABORT, 'revision is append-only: this row is already there'); END;
CREATE TRIGGER keep_study_item_update BEFORE UPDATE ON study_item BEGIN SELECT RAISE(ABORT, 'study_item is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_study_item_delete BEFORE DELETE ON study_item BEGIN SELECT RAISE(ABORT, 'study_item is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_study_item_replace BEFORE INSERT ON study_item WHEN EXISTS (SELECT 1 FROM study_item WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM study_item WHERE "study_id" = NEW."study_id" AND "item_version_id" = NEW."item_version_id") OR EXISTS (SELECT 1 FROM study_item WHERE "study_id" = NEW."study_id" AND "position" = NEW."position") BEGIN SELECT RAISE(ABORT, 'study_item is append-only: this row is already there'); END;
CREATE TRIGGER keep_study_score_update BEFORE UPDATE ON study_score BEGIN SELECT RAISE(ABORT, 'study_score is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_study_score_delete BEFORE DELETE ON study_score BEGIN SELECT RAISE(ABORT, 'study_score is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_study_score_replace BEFORE INSERT ON study_score WHEN EXISTS (SELECT 1 FROM study_score WHERE "study_item_id" = NEW."study_item_id" AND "score_id" = NEW."score_id") BEGIN SELECT RAISE(ABORT, 'study_score is append-only: this row is already there'); END;
CREATE TRIGGER keep_submission_update BEFORE UPDATE ON submission BEGIN SELECT RAISE(ABORT, 'submission is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_submission_delete BEFORE DELETE ON submission BEGIN SELECT RAISE(ABORT, 'submission is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_submission_replace BEFORE INSERT ON submission WHEN EXISTS (SELECT 1 FROM submission WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM submission WHERE "assignment_id" = NEW."assignment_id" AND "sitting" = NEW."sitting" AND "step" = NEW."step") OR EXISTS (SELECT 1 FROM submission WHERE "uid" = NEW."uid") OR EXISTS (SELECT 1 FROM submission WHERE "uid" = NEW."uid") BEGIN SELECT RAISE(ABORT, 'submission is append-only: this row is already there'); END;
CREATE TRIGGER keep_annotation_update BEFORE UPDATE ON annotation BEGIN SELECT RAISE(ABORT, 'annotation is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_annotation_delete BEFORE DELETE ON annotation BEGIN SELECT RAISE(ABORT, 'annotation is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_annotation_replace BEFORE INSERT ON annotation WHEN EXISTS (SELECT 1 FROM annotation WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM annotation WHERE "assignment_id" = NEW."assignment_id" AND "sitting" = NEW."sitting") BEGIN SELECT RAISE(ABORT, 'annotation is append-only: this row is already there'); END;
CREATE TRIGGER keep_label_update BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'label is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_label_delete BEFORE DELETE ON label BEGIN SELECT RAISE(ABORT, 'label is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_label_replace BEFORE INSERT ON label WHEN EXISTS (SELECT 1 FROM label WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM label WHERE "assignment_id" = NEW."assignment_id" AND "sitting" = NEW."sitting" AND "criterion" = NEW."criterion" AND "target" = NEW."target") BEGIN SELECT RAISE(ABORT, 'label is append-only: this row is already there'); END;
CREATE TRIGGER keep_adjudication_update BEFORE UPDATE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_adjudication_delete BEFORE DELETE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_adjudication_replace BEFORE INSERT ON adjudication WHEN EXISTS (SELECT 1 FROM adjudication WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM adjudication WHERE "uid" = NEW."uid") OR EXISTS (SELECT 1 FROM adjudication WHERE "uid" = NEW."uid") BEGIN SELECT RAISE(ABORT, 'adjudication is append-only: this row is already there'); END;
CREATE TRIGGER keep_adjudicated_label_update BEFORE UPDATE ON adjudicated_label BEGIN SELECT RAISE(ABORT, 'adjudicated_label is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_adjudicated_label_delete BEFORE DELETE ON adjudicated_label BEGIN SELECT RAISE(ABORT, 'adjudicated_label is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_adjudicated_label_replace BEFORE INSERT ON adjudicated_label WHEN EXISTS (SELECT 1 FROM adjudicated_label WHERE "adjudication_id" = NEW."adjudication_id" AND "criterion" = NEW."criterion" AND "target" = NEW."target") BEGIN SELECT RAISE(ABORT, 'adjudicated_label is append-only: this row is already there'); END;
CREATE TRIGGER keep_run_update BEFORE UPDATE ON run BEGIN SELECT RAISE(ABORT, 'run is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_run_delete BEFORE DELETE ON run WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = OLD.batch_id) BEGIN SELECT RAISE(ABORT, 'run is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_run_replace BEFORE INSERT ON run WHEN EXISTS (SELECT 1 FROM run WHERE "id" = NEW."id") BEGIN SELECT RAISE(ABORT, 'run is append-only: this row is already there'); END;
CREATE TRIGGER keep_score_update BEFORE UPDATE ON score BEGIN SELECT RAISE(ABORT, 'score is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_score_delete BEFORE DELETE ON score WHEN NOT EXISTS (SELECT 1 FROM unpublished_batch u WHERE u.batch_id = (SELECT r.batch_id FROM run r WHERE r.id = OLD.run_id)) BEGIN SELECT RAISE(ABORT, 'score is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_score_replace BEFORE INSERT ON score WHEN EXISTS (SELECT 1 FROM score WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM score WHERE "run_id" = NEW."run_id" AND "item_version_id" = NEW."item_version_id" AND "name" = NEW."name" AND "target" = NEW."target") BEGIN SELECT RAISE(ABORT, 'score is append-only: this row is already there'); END;
CREATE TRIGGER keep_training_set_update BEFORE UPDATE ON training_set BEGIN SELECT RAISE(ABORT, 'training_set is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_training_set_delete BEFORE DELETE ON training_set BEGIN SELECT RAISE(ABORT, 'training_set is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_training_set_replace BEFORE INSERT ON training_set WHEN EXISTS (SELECT 1 FROM training_set WHERE "id" = NEW."id") OR EXISTS (SELECT 1 FROM training_set WHERE "project_id" = NEW."project_id" AND "name" = NEW."name" AND "number" = NEW."number") BEGIN SELECT RAISE(ABORT, 'training_set is append-only: this row is already there'); END;
CREATE TRIGGER keep_training_example_update BEFORE UPDATE ON training_example BEGIN SELECT RAISE(ABORT, 'training_example is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_training_example_delete BEFORE DELETE ON training_example BEGIN SELECT RAISE(ABORT, 'training_example is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_training_example_replace BEFORE INSERT ON training_example WHEN EXISTS (SELECT 1 FROM training_example WHERE "training_set_id" = NEW."training_set_id" AND "position" = NEW."position") BEGIN SELECT RAISE(ABORT, 'training_example is append-only: this row is already there'); END;
CREATE TRIGGER keep_event_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only: UPDATE is refused'); END;
CREATE TRIGGER keep_event_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'event is append-only: DELETE is refused'); END;
CREATE TRIGGER keep_event_replace BEFORE INSERT ON event WHEN EXISTS (SELECT 1 FROM event WHERE "id" = NEW."id") BEGIN SELECT RAISE(ABORT, 'event is append-only: this row is already there'); END;
COMMIT;