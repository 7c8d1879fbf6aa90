// Privatemail embeds labelled feature vectors so that near neighbours stay near
// and classes gather, and releases the first step with differential privacy.
//
//	privatemail VERB [FLAGS] [FILES]
//
//	demo         private retrieval on 1797 handwritten digits, end to end; no files needed
//	evaluate     measure retrieval under privacy: modes against epsilon, with a report
//	embed        embed a file of feature vectors
//	fit          make a labelled file searchable: the supervised embedding, and queries in it
//	apply        place new rows by a model that fit has saved, and tell their classes
//	show         explain a file that this program has written
//	search       find the nearest rows of a gallery for every query, exactly
//	serve        answer private queries about a gallery over the network
//	split        split a gallery into shards, which several machines serve
//	query        ask a server for the rows of its gallery that are nearest to rows that stay here
//	graph        write the neighbour graph of a file as a sparse matrix
//	plan         list the operators that could embed a file, with their cost
//	generate     write synthetic feature vectors, or the digits of the demo
//	sensitivity  tell how much noise a private first step needs; no data needed
//	privatize    release the first step of a file with differential privacy
//	continue     take a release further: rebuild the graph from it and iterate
//	budget       create, show or verify the ledger that counts what releases have cost
//	cache        list or clear what this program keeps in the user's cache folder
//	help         explain a verb
//	version      show what this program was built from
//
// Every verb has -h with its flags, their defaults and an example. Flags may
// stand before or behind file names; behind -- everything is a name.
//
// # Files
//
// FEATURES is a file (.npy, .npz, .csv, .tsv, .txt, .fvecs, .bvecs, .ivecs, .fbin,
// .u8bin, .i8bin, .ibin, IDX), or a folder with features.npy and labels.npy. Labels are
// one integer or name per row; -1, an empty field, NA, NaN or null is none. They come from
// a file of their own (-labels), from a column of text that is called label, labels, class,
// target, category, species or y, or as -label-column says, or from the array labels,
// label, y or target of a .npz. The features of a .npz are its array features, X, x, data
// or arr_0; x.npz:NAME says another. -columns chooses the columns of text, and -header says
// whether line 1 names them where that cannot be seen. What text is taken for is said on
// standard error. Names of classes are numbered in sorted order and written beside the
// output: e.labels.csv for -out e.npy. Names of columns are those of a header, of columns.csv in a
// folder, or of the array columns, column_names or feature_names of a .npz: apply, search, query
// and fit -queries take columns by them, in any order. Package formats has the details. Output is
// float32 as .npy, .fvecs, .fbin or .idx, by the ending of its name. The command finds
// out whether it can be written before the work begins. A file is replaced as a whole
// or not at all: after a failure or Ctrl-C the previous file is as it was.
//
// # Embedding
//
// Without -alpha, -beta and -form, embed makes a map to look at (form spectral), of the
// leading eigenvectors of the graph of the nearest neighbours of each row:
//
//	privatemail embed birds/ -normalize-rows -out map.npy
//
// The other forms need a graph: -neighbours N, or a bandwidth: -sigma S, or -degree G to
// have it found by the mean number of neighbours a row should have. Weights are
// exp(-d^2/(2 S^2)) unless -convention says otherwise.
//
// Form attract (-beta) starts at the feature rows and pulls rows of a class
// together; one step with -beta 3 is a good start for retrieval:
//
//	privatemail embed birds/ -normalize-rows -degree 20 -beta 3 -out birds.npy
//
// fit is the whole recipe for retrieval: it shrinks what differs within classes by a
// linear map, takes that step, and places queries by the map alone:
//
//	privatemail fit birds/ -normalize-rows -out gallery.npy -queries new.npy -queries-out queries.npy
//
// fit -model keeps all of it in one file, by which apply places the rows of tomorrow and tells their classes. show
// explains such a file, and any other that this program writes (docs/models.md):
//
//	privatemail fit birds/ -normalize-rows -model birds.model
//	privatemail apply birds.model new.npy -out queries.npy
//	privatemail apply birds.model new.npy -classes classes.csv
//	privatemail show birds.model
//
// Form paper (-alpha, or -form paper) starts at -k random columns:
//
//	privatemail embed x.npy -labels y.csv -sigma 6 -alpha 0.6 -k 2 -steps 5 -out z.npy
//
// embed and fit draw the rows before and after with -plot: .svg and .png are pictures, .html
// is a page that shows the row and class of a point. More than 10000 rows are drawn by a
// fixed sample, which the caption says. -colour-by draws a number of each row in place of
// classes:
//
//	privatemail fit birds/ -normalize-rows -out gallery.npy -plot birds.html
//	privatemail embed birds/ -out map.npy -plot map.html -colour-by weights.csv
//
// To see what an embedding would cost, and to make a set to try it on:
//
//	privatemail plan x.npy -sigma 0.35 -tolerance 1e-3
//	privatemail generate -kind classes -n 5000 -d 64 -classes 20 -out toy/
//
// # Retrieval
//
// To measure how well queries find their class and their neighbours in a gallery, mode
// by mode and epsilon by epsilon, with tables and pictures in report.html:
//
//	privatemail evaluate birds/ -modes raw,prepared,supervised,cells -epsilon 1,2,4,8 -seeds 1..5 -out birds-report
//
// To find the nearest rows themselves, exactly, and to take the graph elsewhere:
//
//	privatemail search gallery.npy queries.npy -k 8 -out ids.npy -distances-out d.npy
//	privatemail graph birds/ -normalize-rows -degree 20 -out birds.npz
//
// # Privacy
//
// To see what a guarantee costs, to create a budget, to make a release, and to take the
// release further, which anybody can do:
//
//	privatemail sensitivity -n 1001 -k 2 -sigma 6 -alpha 0.6 -classes 98 -epsilon 0.1 -delta 1e-5
//	privatemail budget create me.ledger -epsilon 3 -delta 1e-6
//	privatemail privatize x.npy -normalize-rows -sigma 1 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger me.ledger -unit x -new-unit -dry-run
//	privatemail privatize x.npy -normalize-rows -sigma 1 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger me.ledger -unit x -new-unit -anyway -out x.release
//	privatemail continue x.release -degree 20 -out z.npy
//
// Epsilon, delta, label mode and ledger have no default. A spend is written to the
// ledger before noise is drawn and is never given back. -dry-run shows what would be spent,
// noise over signal, and what would be left; where the noise of an entry exceeds its signal
// a release is refused without -anyway. docs/privacy.md says what is
// promised and what is not; the cautions that privatize and sensitivity
// print are explained there.
//
// # Output
//
// Results go to standard output, progress and messages to standard error:
// progress as a bar on a terminal, as plain lines at least two seconds apart
// elsewhere. -quiet leaves errors alone: no progress, no notes, no warnings, no
// results. -v adds how the graph was made, with its certificate, memory and the
// objective, and what a release promises as formulas. With -json, also beside -quiet,
// results are one JSON object per line; numbers that are infinite are null.
//
// Messages count rows, columns and lines from 1. Row numbers that programs read count from 0:
// those in files, in -json and in the tables of what search and query find, and -private-rows.
//
//	embed     n d k form operator sigma gamma radius neighbours mean_degree
//	          isolated eta_max eta_p99 nnz bytes peak_bytes build_seconds
//	          steps_seconds seconds reading_seconds writing_seconds standardize connected
//	          status trace[step objective scale change] out names plot
//	fit       n d k recipe held_out{rows raw scaled result lead_standard_error
//	          recipes_tried} graph{as of embed} trace seconds{choice map graph steps
//	          files all} out model queries queries_out map_out names plot
//	apply     n d k model recipe zeros seconds out classes voters rows_without_class
//	          labelled_rows accuracy
//	show      file kind bytes, and what there is to say about that kind
//	search    gallery queries d k recall_at_1 recall_at_k labelled_queries seconds out
//	          distances_out classes queries_without_class accuracy; before it, without -out, per query: query ids distances
//	graph     n d entries values out, and those of embed about the graph
//	plan      per operator, best first: operator picked feasible seconds seconds_low
//	          seconds_high slowdown build_seconds seconds_per_step bytes peak_bytes
//	          nnz eta radius neighbours degree{mean p1 p10 p50 p90 p99 isolated}
//	          reason n d sigma gamma standardize
//	generate  kind n d classes seed out labels
//	demo, evaluate  per configuration: data mode title epsilon delta k alpha sigma
//	          steps protects warning seeds queries classes gallery ceiling download
//	          base figures{"R@1" "R@8" "P@8" "mAP@100" "overlap@8" and others, each
//	          mean low high} facts seconds
//	sensitivity  n k sigma alpha table classes sigma_q seed operator computed
//	          relation tight{delta operator_error derivation assumptions}
//	          relations[relation delta] corrected{M delta delta_spectral relation}
//	          paper{M_ii M_ij M delta valid proved why} epsilon delta e_to_epsilon
//	          odds{odds_exceed odds_at_delta epsilon_records} sensitivity_total sigma_analytic sigma_classical mu rho signal_rms
//	          noise_to_signal cautions[id text]
//	privatize n d k id relation operator derivation epsilon epsilon_total delta
//	          odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu rho
//	          records label_mode label_epsilon ledger head sha256 signal_rms
//	          noise_to_signal cautions out
//	          -dry-run: dry_run n d k relation operator derivation epsilon epsilon_total
//	          delta odds_exceed odds_at_delta epsilon_records rule sensitivity sigma mu
//	          rho records label_mode label_epsilon signal_rms noise_to_signal
//	          refused[noise budget] ledger{path new_unit cost{rho pure} fits
//	          budget_epsilon epsilon_so_far epsilon_after left_before{rho pure}
//	          left_after{rho pure} unit_protects} cautions
//	continue  n k labels status trace out, and those of embed about the graph
//	budget    kind epsilon delta whole{rho pure} records head ledger
//	          units[unit kind spent{rho pure} remaining{rho pure} epsilon_spent
//	          epsilon_basic]
//	          spends[sequence unit release epsilon delta rho pure_epsilon
//	          cost{rho pure} released]
//	          verify: ledger head releases[file release spend unit paid note]
//	          spends_without_release
//	cache     folder files[file what ours bytes time why] removed[the same] bytes
//	version   version revision modified go platform simd choices choices_from
//
// Bytes are what the graph holds between steps, peak_bytes what it took to build
// it. The same input gives the same output file for any number of workers.
//
// # Several processes
//
// A program that was built with MPI (CC=mpicc go build -tags mpi ./cmd/privatemail) shares the
// work of embed, fit, plan and continue among the processes that mpirun starts, its ranks:
//
//	mpirun -n 4 privatemail embed birds/ -normalize-rows -degree 20 -beta 3 -out birds.npy
//
// All ranks see the same files under the same names. Each reads and writes its rows, rank 0
// alone prints, -workers and -budget are those of each rank, and the file has the bytes that one
// process writes. Other verbs run on one process. docs/scale.md has more.
//
// # Checkpoints
//
// A long run of form paper or attract keeps its state in a file every few steps:
//
//	privatemail embed birds/ -degree 20 -beta 3 -steps 200 -checkpoint birds.checkpoint -resume -out birds.npy
//
// Where the file is there the run goes on from it, and begins otherwise; without -resume a file
// that is there is refused. The embedding has the bytes of a run that was never interrupted, on
// any number of workers and ranks. Features, labels and flags have to be the same, -steps,
// -stop and -checkpoint-every apart. A checkpoint is written to a temporary name, synced and
// renamed, so a crash leaves the one before. It is removed when the embedding is written. It is
// as private as the features; privatize has none.
//
// # Cache
//
// The folder privatemail of the user's cache folder (~/.cache on Linux) has the measured speed
// of this machine, and in galleries/ what query has taken from servers and does not depend on a
// row. All of it can be removed at any time:
//
//	privatemail cache list
//	privatemail cache clear
//
// clear asks nothing. It leaves alone files that this program has not made, and those that a
// running process has locked.
//
// # Processor instructions
//
// Inner loops use the best instructions the processor has; 'privatemail version'
// names them. The environment variable PM_SIMD asks for less: generic (plain Go),
// avx2, avx512, avx512vnni, amx or neon. Some loops of avx512 and above come in two forms
// with the same bits, one that gathers numbers from memory and one that loads them one by
// one. The faster one is found by a measurement, mostly of a fraction of a millisecond. A clear
// answer is kept in privatemail/calibration-choices.json of the user's cache folder, for this
// processor and its microcode, so that the next command makes the same choice. PM_SIMD may
// ask for one instead, with or without a level: gather=off, or avx512,gather=on. Releases do not depend on it, embeddings only
// within -tolerance: their operator is chosen by what it costs, and the last digits of
// some follow the level.
//
// # Exit codes
//
//	0    success
//	1    the request was refused or failed: a file is missing or damaged, memory
//	     does not suffice, the iteration diverged, the noise of a release exceeds its signal
//	2    wrong usage: unknown verb or flag, contradicting flags
//	130  interrupted by Ctrl-C or SIGTERM; a second signal ends the program at once
//
// An error is one line that names the file, row or flag and what to do:
//
//	privatemail: embed: x.npy: row 17, column 3 is NaN or infinite; remove the row or replace the value
package main
