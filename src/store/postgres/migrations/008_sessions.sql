-- On PostgreSQL the table of sessions came with the boxes (005_boxes.sql).
SELECT 1;
