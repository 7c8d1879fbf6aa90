// Pmbench measures the engine: against the limits of the machine it runs on,
// against an earlier revision, and against other libraries.
//
//	pmbench VERB [FLAGS] [FILES]
//
//	run       measure a suite
//	compare   report whether one recording is slower than another
//	ab        compare the working tree with a revision, interleaved
//	roofline  hold products and steps against bandwidth and arithmetic
//	peers     measure others on the same data, in the same minute
//	ranks     report how much faster several ranks are than one
//	model     predict what more ranks than there are would take
//	load      ask a service as many clients at once, and report how long its answers take
//	report    write BENCHMARKS.md and a page with plots from recordings
//	help      explain a verb
//	version   show what this program was built from
//
// Every verb has -h with its flags, their defaults and an example. Flags may
// stand before or after names.
//
//	pmbench run -suite spmm -case 'k=8/'
//	pmbench run -suite spmm -count 20 -json -out new.txt > spmm.jsonl
//	pmbench compare old.txt new.txt
//	pmbench ab HEAD -suite step
//	pmbench peers
//	pmbench run -suite all -record recordings
//
// # Suites
//
//	cells      building the graph of a million points in 2 and 3 dimensions
//	spmm       the sparse product of a million rows with k columns
//	step       the fused step compared with the product it contains
//	wide       a step of the full kernel of unit features at a wide bandwidth, by its polynomial
//	iterate    whole runs: five steps, an embedding from points to result, eigenvectors
//	search     building the graph of features in 64 and 512 dimensions, and of points in 8
//	private    the private first step: bound, kernel and noise
//	plan       the chosen operator compared with all usable ones, over kinds of points and bandwidths
//	scale      graph and step of 100,000 to 3,000,000 points, with -full to 10,000,000
//	grid       the interpolated kernel of points with a tenth of all others as neighbours
//	answers    answers of mode cells, 6.7 MB as float32 and 1.8 MB as int8: written, read and ranked
//	retrieval  answers of a service over the loopback, to clients in a second process, compared with a plain file server
//	sealed     encrypted queries of mode sealed in a gallery of a million rows: answers, client, bytes, and the neighbours that are found
//	apply      placing the rows of a file by a map, into another file, compared with copies of the file
//	ranks      building graphs and steps of them by the ranks that mpirun has started, one worker each, with the bytes they receive
//	levels     every inner loop at every level and choice of instructions; fails where what is chosen takes over 1.15 times the best
//	concurrent 1, 4 and 16 callers of one Engine: time and memory of their embeddings, with and without a memory limit
//
// Suite iterate computes the eigenvectors of a graph of generated points. With
// PM_FEATURES=FOLDER it takes the first rows of features.npy in the folder instead, and
// suite search takes all rows of that file as they are. The cases op=equality of suite
// search (-full) compare the pairs found within three radii, each the distance of a
// pair, with the pairs that the float64 distances of all pairs give, and fail if they
// differ:
//
//	PM_FEATURES=birds pmbench run -suite search -full -case equality -count 1
//
// Suite levels has a line for each inner loop, on data that stays in the caches: the least
// nanoseconds for an element at every level and choice that PM_SIMD leaves, and how many
// times as long the chosen one takes as the best, by the least times or by the median of
// the rounds, whichever is less. Levels and choices that run the same loop are timed as one.
// A loop over 1.15 is timed again for longer, and the
// command fails if it stays there. With -count 1 it takes some ten seconds:
//
//	pmbench run -suite levels -count 1 -no-limits
//
// The largest case of suite search, a million rows, is part of the long form too.
//
// A suite is a table of cases, one file each. Cases are measured in rounds, each
// once a round, so that slow changes of the machine meet all of them alike; a
// measurement is the median of as many operations as fit into 0.2 s, at least
// one. By default a suite takes at most 45 s on a server with two cores; -count
// fixes the number of rounds, -full is the long form with all cases.
//
// # Limits
//
// Before a suite the limits of the machine are measured with one and with all
// workers, the best of five passes each: the bandwidth of reading an array four
// times the last cache (at most 2 GiB), by all its words or by one of each line of 64
// bytes, whichever is faster; random rows of 64 bytes of it; and scalar
// multiply-adds. Next to every figure is the fraction of the limit that the case reaches:
//
//	product   the bytes of the layout, 8 an entry and 8 a row in the plain one, x and
//	          y once, over the bandwidth
//	step      8 bytes an entry, 8 k + 12 a row, over the bandwidth
//	wide      8 bytes a feature, 12 k + 40 a row, over the bandwidth
//	random    entries over the rate of random rows, of a table of the size of x
//	private   multiply-adds of all pairs over scalar multiply-adds; with poly four
//	          passes over 8 bytes a feature, over the bandwidth
//	sealed    answers of the server: the slower of the bytes of the gallery over the
//	          bandwidth, and three multiply-adds of bytes for each of them and each probe
//	          over the rate that the same loop reaches on data in the caches of a core
//
// A fraction can exceed 1: where caches hold a part of the data, and where vector
// instructions do several multiply-adds at a time, as in suite private with dense and
// background, and the limit is that of scalar ones.
//
// # Comparing
//
// A machine with neighbours takes half as long again for the same work while the
// other half of a core is in use, for milliseconds or for minutes. Two recordings of
// one commit then differ by more than any change worth finding. So operations are
// measured between two readings of a yardstick, a millisecond of exponentials of
// package math on as many workers as the case has, and a recording holds
//
//	yards/op        seconds of the operation over the mean of the two readings
//	yard-sec        the slower of them
//	least-yard-sec  the least reading of the process so far
//
// of one stretch of each measurement: the fastest of the stretches between calm
// readings, or of all stretches when none is calm. A reading is calm within 10% of the
// least. With -count a measurement waits for calm moments and goes on until it has met
// three of them, or until it took four times as long as without. The other figures are
// of all operations. With -calm N as many processors read at once, those of all ranks
// together, a measurement waits for up to ten times as long, and all figures are of one
// stretch: the fastest of the first three between calm readings.
//
// compare takes the measurements whose yard-sec is within 10% of the least of both
// recordings, and compares their yards/op. The first leaves out neighbours, the second
// the clock of the processor. compare needs 10 such measurements on either side;
// otherwise it takes all, and allows for the drift of the yardstick on top of the
// threshold. The yardstick does not see neighbours that only use the bandwidth of the
// memory: with all workers at once products differ by 4% (standard deviation) between
// recordings where they differ by 2% with one. Yards of different processors or
// versions of Go are different units. Recordings of different processors, numbers of
// cores, levels or choices are refused; with -across they are compared, in seconds where
// the processors differ.
// testdata/compare.sh counts how often the verdict is right.
//
// Programs of the same machine make an operation wait between two readings, however calm
// these are, and the longer it takes the more often. So a recording also holds
//
//	cpu-yards/op    processor seconds of the operation, the mean, over those of a reading
//	cpu-yard-sec    the median of the processor seconds of all readings of the measurement
//
// and where yards/op of a case is unclear, cpu-yards/op is compared: of either recording the
// ten measurements with the least cpu-yard-sec and those within 10% of the least of both.
// Where some were above, a change has to exceed the threshold by 10%, or by as much as the
// medians of cpu-yard-sec differ. Both metrics count in the correction of p, whether they
// are shown or not. More processor time in less time is not a loss: where yards/op is clear
// cpu-yards/op is left out.
//
// ab looks at its turns three times, when there are 10, 20 and 40, and stops when one metric
// is worse, or when no metric is likely worse and no unclear one could be worse by a third.
// p is three times that of one look. On a machine with a load of 6 to 25 on two cores this
// finds a slowdown by a third in 97 of 100 comparisons of one case, with 16 turns in the mean,
// where 10 turns of yards/op alone found 2; testdata/busy has the turns and the figures.
// The choice between loops that gather and loops that load is measured once by ab and by
// peers, which hand it to the programs that they start. run takes the one that an earlier
// process on the same machine has kept, in the user's cache folder.
//
// # Output
//
// Results go to standard output, progress to standard error. With -json results
// are one object per line; numbers that do not exist are null.
//
//	run       suite case n d k nnz workers level seconds iterations spread
//	          yards_per_op yard_seconds least_yard_seconds cpu_seconds cpu_yards_per_op
//	          cpu_yard_seconds stolen products bytes
//	          gnnz_per_s | pairs_per_s ns_per_point ns_per_nnz
//	          roof roof_fraction madd_per_s eta eta_p99 rss_bytes peak_bytes
//	          peak_bytes_per_nnz instructions depth compared measured found
//	          equal[degree radius pairs] settings{pick best ratio seconds failed}
//	          sealed{queries cells length probes up_bytes down_bytes hint_bytes manifest_bytes
//	          build_seconds hint_seconds build_workers overlap}
//	          ranks{ranks exchanged_bytes gathered_bytes allgatherv_bytes measured_rounds}
//	          ended_early command commit time machine{cpu processor{vendor family model stepping implementer part} cores
//	          goos goarch go level choices choices_from pm_simd l1_bytes l2_bytes l3_bytes
//	          memory_bytes huge_pages kernel governor load counters commit limits}
//	compare   case metric old new old_runs new_runs spread drift old_calm new_calm
//	          change detectable p p_holm worse likely_worse better unclear differences
//	roofline  suite case workers madd_per_byte madd_per_s read_limit_madd_per_s
//	          scalar_limit_madd_per_s read_fraction
//	peers     suite case n d k nnz workers level peer version rounds wanted_rounds peer_n
//	          seconds peer_seconds ratio ratio_low ratio_high difference recall
//	          residual peer_residual peer_peak_bytes missing command commit time machine
//	ranks     suite case n ranks rounds seconds speedup speedup_low speedup_high
//	          exchanged_bytes gathered_bytes allgatherv_bytes peak_bytes stolen measured_rounds
//	model     n d k ranks memory_bytes ghost_rows halo_bytes allgatherv_bytes sum_bytes
//	          messages step_bytes step_madds step_seconds step_speedup search_seconds
//	          search_speedup
//	report    out html measurements ratios
//	version   version revision modified go platform simd choices choices_from
//
// When Ctrl-C, SIGTERM or a failure ends run or peers early, they print the rounds that
// were finished, and write the files they were asked for, under names that end in
// -ended-early. What peers prints of a case has wanted_rounds where its rounds are fewer
// than asked for. In files of run the cases of the suite that ended have ended_early; the
// objects that run -json prints do not, for they are printed when they are measured. A
// second Ctrl-C ends the program at once.
//
// # Recordings
//
// With -record FOLDER run and peers keep a recording of each suite, one object per line,
// which report reads. Its place says what it is of:
//
//	FOLDER/cascade-lake/spmm.jsonl                   of run
//	FOLDER/cascade-lake/peers-spmm.jsonl             of peers
//	FOLDER/cascade-lake/avx2/spmm.jsonl              of run with PM_SIMD=avx2
//	FOLDER/cascade-lake/spmm-ended-early.jsonl       of run that was interrupted
//	FOLDER/cascade-lake/spmm-part-k-8-5d9e587f.jsonl of run -case k=8/
//
// The first folder is the family of the processor, recognised by the numbers that the processor
// gives: several share a name for the market. A processor that pmbench does not
// know is named by these numbers. A recording takes the place of an older one whole; one
// that ended early has another name. So has one of a part of a suite, which -case
// makes, and -peer and -n of peers: its name has -part, the first letters of what was
// asked for and a checksum of all of it, so that each part keeps a file. report makes a
// section for each family from what the recordings hold. The names of folders count only
// for recordings from before the numbers were recorded. Of several recordings of a case
// the newest counts, and one that ended early only where there is no other.
//
// A recording holds what the system says of the machine: the name and the numbers of the
// processor, caches, memory, the version of the kernel, the load, and the command with its
// flags. It holds no name of the machine or its user, unless a path on the command line has it.
//
// Seconds are medians; spread is the distance of the quartiles relative to the median.
// Pairs are directed: each is found from both ends. run -out writes the Go
// benchmark format, which benchstat reads too.
//
// # Exit codes
//
//	0    success; of compare and ab: no metric is worse, likely worse or unclear
//	1    the request was refused or failed, suite levels found a loop that is
//	     slow as chosen, or compare and ab found a metric that is worse, or, with
//	     -fail-unclear, one that is unclear or likely worse
//	2    wrong usage
//	3    compare and ab found no metric that is worse or likely worse, and at least one
//	     that is unclear
//	4    compare and ab found no metric that is worse, and at least one that is likely worse:
//	     its own p is below 0.05, and not with those of the other metrics and looks
//	130  interrupted by Ctrl-C or SIGTERM
package main
