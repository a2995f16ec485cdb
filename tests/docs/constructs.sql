-- A construct a line: what analysts call it, a tab, and how they write it. scripts/make-sql-table makes docs/sql-constructs.md of it.
COUNT(*) by group	SELECT race, COUNT(*) AS n FROM stops GROUP BY race
no alias	SELECT race, COUNT(*) FROM stops GROUP BY race
GROUP BY 1	SELECT race, COUNT(*) AS n FROM stops GROUP BY 1
GROUP BY ALL	SELECT race, gender, COUNT(*) AS n FROM stops GROUP BY ALL
ORDER BY ... LIMIT	SELECT race, COUNT(*) AS n FROM stops GROUP BY race ORDER BY n DESC LIMIT 3
LIMIT without ORDER BY	SELECT race, COUNT(*) AS n FROM stops GROUP BY race LIMIT 3
ORDER BY COUNT(*)	SELECT race, COUNT(*) AS n FROM stops GROUP BY race ORDER BY COUNT(*) DESC
ORDER BY NULLS LAST	SELECT race, COUNT(*) AS n FROM stops GROUP BY race ORDER BY n DESC NULLS LAST
OFFSET	SELECT race, COUNT(*) AS n FROM stops GROUP BY race ORDER BY n LIMIT 3 OFFSET 2
HAVING	SELECT race, COUNT(*) AS n FROM stops GROUP BY race HAVING COUNT(*) > 100
COUNT FILTER	SELECT COUNT(*) FILTER (WHERE gender = 'Male') AS m FROM stops
SUM(CASE)	SELECT SUM(CASE WHEN gender = 'Male' THEN 1 ELSE 0 END) AS m FROM stops
COUNT(CASE)	SELECT COUNT(CASE WHEN gender = 'Male' THEN 1 END) AS m FROM stops
COUNT_IF	SELECT COUNT_IF(gender = 'Male') AS m FROM stops
share: 100.0 * FILTER / COUNT	SELECT race, 100.0 * COUNT(*) FILTER (WHERE personSearch = 'YES') / COUNT(*) AS pct FROM stops GROUP BY race
share: AVG(CASE) * 100	SELECT race, 100 * AVG(CASE WHEN personSearch = 'YES' THEN 1.0 ELSE 0 END) AS pct FROM stops GROUP BY race
share of total: SUM(COUNT(*)) OVER ()	SELECT race, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS pct FROM stops GROUP BY race
share of total: scalar subquery	SELECT race, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM stops) AS pct FROM stops GROUP BY race
AVG(boolean)	SELECT AVG(personSearch = 'YES') AS s FROM stops
AVG(CAST(boolean AS INT))	SELECT AVG(CAST(personSearch = 'YES' AS INTEGER)) AS s FROM stops
cast ::	SELECT AVG((personSearch = 'YES')::int) AS s FROM stops
IF()	SELECT SUM(IF(gender = 'Male', 1, 0)) AS m FROM stops
ROUND(AVG(x), 1)	SELECT race, ROUND(AVG(lat), 1) AS m FROM stops GROUP BY race
ROUND(aggregate)	SELECT race, ROUND(AVG(lat)) AS m FROM stops GROUP BY race
COALESCE of aggregate	SELECT race, COALESCE(AVG(lat), 0) AS m FROM stops GROUP BY race
NULLIF	SELECT SUM(lat) / NULLIF(COUNT(*), 0) AS m FROM stops
GREATEST / LEAST	SELECT SUM(LEAST(lat, 45)) AS m FROM stops
MEDIAN	SELECT race, MEDIAN(lat) AS m FROM stops GROUP BY race
PERCENTILE_CONT WITHIN GROUP	SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY lat) AS p90 FROM stops
QUANTILE_CONT	SELECT QUANTILE_CONT(lat, 0.9) AS p90 FROM stops
APPROX_QUANTILE	SELECT APPROX_QUANTILE(lat, 0.9) AS p90 FROM stops
QUANTILE list	SELECT QUANTILE(lat, [0.1, 0.5, 0.9]) AS p FROM stops
three QUANTILEs	SELECT QUANTILE(lat, 0.1) AS a, QUANTILE(lat, 0.5) AS b, QUANTILE(lat, 0.9) AS c FROM stops
CORR	SELECT CORR(lat, long) AS r FROM stops
COVAR_POP	SELECT COVAR_POP(lat, long) AS r FROM stops
REGR_SLOPE	SELECT REGR_SLOPE(lat, long) AS b, REGR_INTERCEPT(lat, long) AS a FROM stops
STDDEV_SAMP	SELECT STDDEV_SAMP(lat) AS s FROM stops
STDDEV_POP	SELECT STDDEV_POP(lat) AS s FROM stops
VAR_POP	SELECT VAR_POP(lat) AS s FROM stops
SQRT	SELECT SQRT(VARIANCE(lat)) AS s FROM stops
LOG	SELECT AVG(LN(lat)) AS s FROM stops
POWER	SELECT AVG(POWER(lat, 2)) AS s FROM stops
EXP	SELECT EXP(AVG(lat - 44)) AS s FROM stops
COUNT(DISTINCT key)	SELECT COUNT(DISTINCT race) AS n FROM stops
COUNT(DISTINCT undeclared)	SELECT COUNT(DISTINCT neighborhood) AS n FROM stops
APPROX_COUNT_DISTINCT	SELECT APPROX_COUNT_DISTINCT(neighborhood) AS n FROM stops
COUNT(DISTINCT a, b)	SELECT COUNT(DISTINCT (race, gender)) AS n FROM stops
MODE	SELECT MODE(race) AS top FROM stops
undeclared GROUP BY (private keys)	SELECT neighborhood, COUNT(*) AS n FROM stops GROUP BY neighborhood
GROUP BY two	SELECT race, gender, COUNT(*) AS n FROM stops GROUP BY race, gender
GROUP BY key + undeclared	SELECT neighborhood, gender, COUNT(*) AS n FROM stops GROUP BY neighborhood, gender
PIVOT	PIVOT stops ON gender USING COUNT(*) GROUP BY race
ROLLUP	SELECT race, gender, COUNT(*) AS n FROM stops GROUP BY ROLLUP (race, gender)
GROUPING()	SELECT race, GROUPING(race) AS g, COUNT(*) AS n FROM stops GROUP BY ROLLUP (race)
DATE_TRUNC month	SELECT DATE_TRUNC('month', date) AS month, COUNT(*) AS n FROM stops GROUP BY month
DATE_TRUNC month, WHERE range	SELECT DATE_TRUNC('month', date) AS month, COUNT(*) AS n FROM stops WHERE date >= '2017-01-01' AND date < '2018-01-01' GROUP BY month
EXTRACT(MONTH)	SELECT EXTRACT(MONTH FROM date) AS month, COUNT(*) AS n FROM stops GROUP BY month
YEAR(d), MONTH(d)	SELECT MONTH(date) AS month, COUNT(*) AS n FROM stops GROUP BY MONTH(date)
DATE_PART	SELECT DATE_PART('month', date) AS month, COUNT(*) AS n FROM stops GROUP BY 1
STRFTIME / TO_CHAR	SELECT STRFTIME(date, '%Y-%m') AS month, COUNT(*) AS n FROM stops GROUP BY 1
CAST(ts AS DATE)	SELECT CAST(date AS DATE) AS day, COUNT(*) AS n FROM stops GROUP BY 1
DATE_DIFF	SELECT COUNT(*) AS n FROM stops WHERE DATE_DIFF('day', date, DATE '2017-12-31') < 30
date literal compare	SELECT COUNT(*) AS n FROM stops WHERE date >= DATE '2017-06-01'
date string compare	SELECT COUNT(*) AS n FROM stops WHERE date >= '2017-06-01'
date - INTERVAL column	SELECT COUNT(*) AS n FROM stops WHERE date + INTERVAL 1 DAY > DATE '2017-06-01'
NOW()	SELECT COUNT(*) AS n FROM stops WHERE date > NOW() - INTERVAL 30 DAY
DAYNAME	SELECT DAYNAME(date) AS d, COUNT(*) AS n FROM stops GROUP BY 1
CASE buckets	SELECT CASE WHEN lat < 44.95 THEN 'south' ELSE 'north' END AS part, COUNT(*) AS n FROM stops GROUP BY part
CASE buckets repeated	SELECT CASE WHEN lat < 44.95 THEN 'south' ELSE 'north' END AS part, COUNT(*) AS n FROM stops GROUP BY CASE WHEN lat < 44.95 THEN 'south' ELSE 'north' END
simple CASE x WHEN	SELECT CASE gender WHEN 'Male' THEN 'm' ELSE 'other' END AS g, COUNT(*) AS n FROM stops GROUP BY 1
WIDTH_BUCKET	SELECT WIDTH_BUCKET(lat, 44.8, 45.1, 10) AS b, COUNT(*) AS n FROM stops GROUP BY b
FLOOR(x / w) of a number	SELECT FLOOR(lat * 10) AS b, COUNT(*) AS n FROM stops GROUP BY b
ROUND(x, 1) as key	SELECT ROUND(lat, 1) AS b, COUNT(*) AS n FROM stops GROUP BY b
NTILE	SELECT NTILE(4) OVER (ORDER BY lat) AS q, COUNT(*) AS n FROM stops GROUP BY q
SELECT *	SELECT * FROM stops
SELECT * LIMIT 5	SELECT * FROM stops LIMIT 5
SELECT col	SELECT race FROM stops
SELECT DISTINCT	SELECT DISTINCT neighborhood FROM stops
DESCRIBE	DESCRIBE stops
SHOW TABLES	SHOW TABLES
trailing semicolon	SELECT COUNT(*) AS n FROM stops;
comment	-- how many\nSELECT COUNT(*) AS n FROM stops
two statements	SELECT COUNT(*) AS n FROM stops; SELECT COUNT(*) AS m FROM stops
CTE	WITH m AS (SELECT race, lat FROM stops WHERE gender = 'Male') SELECT race, COUNT(*) AS n FROM m GROUP BY race
CTE after aggregate	WITH t AS (SELECT race, COUNT(*) AS n FROM stops GROUP BY race) SELECT race, n, n * 1.0 FROM t WHERE n > 100 ORDER BY n DESC
aggregate of an aggregate (outer)	SELECT MAX(n) AS m FROM (SELECT race, COUNT(*) AS n FROM stops GROUP BY race) AS t
window over aggregate	SELECT race, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM stops GROUP BY race
running total	SELECT EXTRACT(MONTH FROM date) AS m, SUM(COUNT(*)) OVER (ORDER BY EXTRACT(MONTH FROM date)) AS c FROM stops GROUP BY m
LAG over months	SELECT EXTRACT(MONTH FROM date) AS m, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY EXTRACT(MONTH FROM date)) AS d FROM stops GROUP BY m
UNION ALL of two answers	SELECT 'm' AS g, COUNT(*) AS n FROM stops WHERE gender = 'Male' UNION ALL SELECT 'f' AS g, COUNT(*) AS n FROM stops WHERE gender = 'Female'
UNION	SELECT COUNT(*) AS n FROM stops UNION SELECT COUNT(*) AS n FROM stops WHERE gender = 'Male'
IN (list)	SELECT COUNT(*) AS n FROM stops WHERE race IN ('White', 'Black')
NOT IN	SELECT COUNT(*) AS n FROM stops WHERE race NOT IN ('White', 'Black')
BETWEEN	SELECT COUNT(*) AS n FROM stops WHERE lat BETWEEN 44.9 AND 45
LIKE	SELECT COUNT(*) AS n FROM stops WHERE neighborhood LIKE 'Down%'
ILIKE	SELECT COUNT(*) AS n FROM stops WHERE neighborhood ILIKE 'down%'
REGEXP	SELECT COUNT(*) AS n FROM stops WHERE REGEXP_MATCHES(neighborhood, '^Down')
IN (subquery)	SELECT COUNT(*) AS n FROM stops WHERE neighborhood IN (SELECT neighborhood FROM stops WHERE race = 'Black')
EXISTS	SELECT COUNT(*) AS n FROM stops WHERE EXISTS (SELECT 1 FROM stops t WHERE t.race = stops.race)
LOWER	SELECT LOWER(gender) AS g, COUNT(*) AS n FROM stops GROUP BY g
TRIM	SELECT COUNT(*) AS n FROM stops WHERE TRIM(gender) = 'Male'
CONCAT / ||	SELECT race || ' ' || gender AS g, COUNT(*) AS n FROM stops GROUP BY g
SUBSTR	SELECT SUBSTR(neighborhood, 1, 1) AS a, COUNT(*) AS n FROM stops GROUP BY a
LEFT	SELECT LEFT(neighborhood, 1) AS a, COUNT(*) AS n FROM stops GROUP BY a
REPLACE	SELECT REPLACE(race, 'e', 'E') AS a, COUNT(*) AS n FROM stops GROUP BY a
SPLIT_PART	SELECT SPLIT_PART(neighborhood, ' ', 1) AS a, COUNT(*) AS n FROM stops GROUP BY a
STARTS_WITH	SELECT COUNT(*) AS n FROM stops WHERE STARTS_WITH(neighborhood, 'D')
IS NULL	SELECT COUNT(*) AS n FROM stops WHERE citationIssued IS NULL
IS DISTINCT FROM	SELECT COUNT(*) AS n FROM stops WHERE citationIssued IS DISTINCT FROM 'YES'
NULL keys: COALESCE	SELECT COALESCE(race, 'missing') AS r, COUNT(*) AS n FROM stops GROUP BY r
quoted identifier	SELECT "race", COUNT(*) AS "number of stops" FROM stops GROUP BY "race"
case-insensitive names	SELECT RACE, COUNT(*) AS N FROM STOPS GROUP BY RACE
alias with AS missing	SELECT race r, COUNT(*) n FROM stops GROUP BY r
table alias	SELECT s.race, COUNT(*) AS n FROM stops s GROUP BY s.race
self join	SELECT COUNT(*) AS n FROM stops a JOIN stops b ON a.neighborhood = b.neighborhood
ANY_VALUE	SELECT race, ANY_VALUE(gender) AS g FROM stops GROUP BY race
STRING_AGG	SELECT STRING_AGG(DISTINCT race, ',') AS g FROM stops
BOOL_OR	SELECT BOOL_OR(gender = 'Male') AS g FROM stops
MIN / MAX of number	SELECT MIN(lat) AS a, MAX(lat) AS b FROM stops
MIN / MAX of date	SELECT MIN(date) AS a, MAX(date) AS b FROM stops
SUM DISTINCT	SELECT SUM(DISTINCT lat) AS s FROM stops
ratio of sums	SELECT SUM(lat) / SUM(long) AS r FROM stops
literal column	SELECT 'all' AS what, COUNT(*) AS n FROM stops
TABLESAMPLE	SELECT COUNT(*) AS n FROM stops TABLESAMPLE 10%
x BETWEEN in SELECT	SELECT lat > 45 AS north, COUNT(*) AS n FROM stops GROUP BY north
modulo	SELECT policePrecinct % 2 AS odd, COUNT(*) AS n FROM stops GROUP BY odd
integer key with bounds	SELECT policePrecinct, COUNT(*) AS n FROM stops GROUP BY policePrecinct
geometric mean	SELECT GEOMETRIC_MEAN(lat) AS g FROM stops
HISTOGRAM()	SELECT HISTOGRAM(lat) AS h FROM stops
QUALIFY	SELECT race, COUNT(*) AS n FROM stops GROUP BY race QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*)) = 1
FIRST_VALUE	SELECT FIRST(race) AS r FROM stops
weighted mean	SELECT SUM(lat * policePrecinct) / SUM(policePrecinct) AS w FROM stops
confidence: FETCH FIRST	SELECT race, COUNT(*) AS n FROM stops GROUP BY race ORDER BY n FETCH FIRST 3 ROWS ONLY
LATERAL / UNNEST	SELECT UNNEST(['a', 'b']) AS u, COUNT(*) AS n FROM stops GROUP BY u
VALUES join	SELECT v.label, COUNT(*) AS n FROM stops JOIN (VALUES ('Male', 'm'), ('Female', 'f')) AS v(gender, label) ON stops.gender = v.gender GROUP BY v.label
